package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashMap;
import java.util.Map;
import understudy.engine.lora.AdapterUse;
import understudy.runtime.EpochClock;

/**
 * vLLM's {@code lora_requests_info} ({@code vllm/v1/metrics/loggers.py}): adapters in labels, and the time as value. It has
 * the label of the engine here, since a server has several, and only the latest series of each, where vLLM leaves the
 * older ones behind.
 */
final class LoraMetrics {
    private final Gauge info;
    private final Map<Integer, String[]> shown = new HashMap<>();

    LoraMetrics(PrometheusRegistry registry) {
        info = Gauge.builder()
                .name("vllm:lora_requests_info")
                .help("Running stats on lora requests.")
                .labelNames("engine", "max_lora", "waiting_lora_adapters", "running_lora_adapters")
                .register(registry);
    }

    void on(int engine, AdapterUse use) {
        forget(engine);
        String[] labels = {
            String.valueOf(engine),
            String.valueOf(use.maxLoras()),
            String.join(",", use.waiting()),
            String.join(",", use.running())
        };
        info.labelValues(labels).set((double) EpochClock.seconds());
        shown.put(engine, labels);
    }

    void forget(int engine) {
        var labels = shown.remove(engine);
        if (labels != null) {
            info.remove(labels);
        }
    }
}

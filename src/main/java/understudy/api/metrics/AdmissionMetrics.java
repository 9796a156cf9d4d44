package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Locale;
import java.util.function.Consumer;
import understudy.api.call.AdmissionControl.Reason;
import understudy.api.call.ApiSettings;

/** Count of calls that a server with limits has turned away; earlier versions of vLLM do not show it. */
public final class AdmissionMetrics {
    private AdmissionMetrics() {}

    /** Registers the family, if the server has one, and returns what counts. */
    public static Consumer<Reason> register(PrometheusRegistry registry, ApiSettings settings) {
        if (!settings.admission().areOn()) {
            return reason -> {};
        }
        var rejections = Counter.builder()
                .name("vllm:admission_rejections")
                .help("Number of calls that were turned away before the engine, by the limit that was reached.")
                .labelNames("model_name", "reason")
                .register(registry);
        for (var reason : Reason.values()) {
            rejections.initLabelValues(settings.servedModel(), label(reason));
        }
        return reason ->
                rejections.labelValues(settings.servedModel(), label(reason)).inc();
    }

    private static String label(Reason reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }
}

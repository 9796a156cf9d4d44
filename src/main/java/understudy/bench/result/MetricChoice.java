package understudy.bench.result;

import java.math.BigDecimal;
import java.util.List;

/**
 * Choice of what is reported of latencies, as by vLLM's {@code --percentile-metrics} and {@code --metric-percentiles}.
 *
 * @param metrics keys of vLLM's metrics
 * @param percentiles each from 0 to 100
 */
public record MetricChoice(List<String> metrics, List<Double> percentiles) {

    /** Metrics that there are. */
    public static final List<String> KNOWN =
            List.of("ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue");

    /** Returns a percentile as part of a name: 99 or 99.9. */
    static String word(double percentile) {
        return new BigDecimal(String.valueOf(percentile)).stripTrailingZeros().toPlainString();
    }

    boolean includes(Metric metric) {
        return metrics.contains(metric.name().key());
    }
}

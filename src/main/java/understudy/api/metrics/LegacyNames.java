package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Names that vLLM had before 2026, for dashboards and autoscalers that still ask for them: the same values once more,
 * copied when they are read. Metrics without a meaning in V1, such as swapping, are 0.
 *
 * @param tokenSeconds between tokens
 * @param queries of the prefix cache, in tokens; {@code hits} likewise
 */
record LegacyNames(Gauge kvUsage, Histogram tokenSeconds, Counter queries, Counter hits) implements MultiCollector {

    @Override
    public MetricSnapshots collect() {
        var usage = kvUsage.collect();
        var asked = queries.collect();
        var found = hits.collect();
        return MetricSnapshots.of(
                new GaugeSnapshot(
                        named("gpu_cache_usage_perc", "GPU KV-cache usage. 1 means 100 percent usage."),
                        usage.getDataPoints()),
                zeros("cpu_cache_usage_perc", "CPU KV-cache usage. 1 means 100 percent usage.", usage),
                zeros("cpu_prefix_cache_hit_rate", "CPU prefix cache block hit rate.", usage),
                zeros("num_requests_swapped", "Number of requests swapped to CPU.", usage),
                new HistogramSnapshot(
                        named("time_per_output_token_seconds", "Histogram of time per output token in seconds."),
                        tokenSeconds.collect().getDataPoints()),
                new CounterSnapshot(
                        named("gpu_prefix_cache_queries", "GPU prefix cache queries, in number of queried tokens."),
                        asked.getDataPoints()),
                new CounterSnapshot(
                        named("gpu_prefix_cache_hits", "GPU prefix cache hits, in number of cached tokens."),
                        found.getDataPoints()),
                new GaugeSnapshot(
                        named("gpu_prefix_cache_hit_rate", "GPU prefix cache hit rate, since the start."),
                        rates(asked, found)));
    }

    private static MetricMetadata named(String name, String help) {
        return new MetricMetadata("vllm:" + name, help);
    }

    private static GaugeSnapshot zeros(String name, String help, GaugeSnapshot like) {
        return new GaugeSnapshot(
                named(name, help),
                like.getDataPoints().stream()
                        .map(point -> new GaugeDataPointSnapshot(0, point.getLabels(), null))
                        .toList());
    }

    private static List<GaugeDataPointSnapshot> rates(CounterSnapshot asked, CounterSnapshot found) {
        var hits = found.getDataPoints().stream()
                .collect(Collectors.toMap(CounterDataPointSnapshot::getLabels, CounterDataPointSnapshot::getValue));
        return asked.getDataPoints().stream()
                .map(point -> rate(point.getLabels(), hits.getOrDefault(point.getLabels(), 0.0), point.getValue()))
                .toList();
    }

    private static GaugeDataPointSnapshot rate(Labels labels, double hits, double queries) {
        return new GaugeDataPointSnapshot(queries == 0 ? 0 : hits / queries, labels, null);
    }
}

package understudy.bench.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.bench.result.BenchRequest.End;
import understudy.report.LatencyName;
import understudy.report.ServiceLevels;
import understudy.report.latency.LatencyStats;
import understudy.workload.Traffic;

/**
 * Outcome of a benchmark: all requests, and the figures that {@code vllm bench serve} makes of them, by its definitions.
 *
 * @param setup settings of the benchmark
 * @param requests in the order of the workload
 * @param durationNanos from the start to the end of the last answer
 * @param isPartial whether it was broken off
 */
public record BenchResult(Setup setup, List<BenchRequest> requests, long durationNanos, boolean isPartial) {
    private static final double NANOS_PER_SECOND = 1e9;
    /** A client that sends one request in a hundred later than this cannot show how fast a server is. */
    private static final double MAX_LAG_NANOS = 20e6;

    /**
     * Setup of a benchmark.
     *
     * @param url of the server
     * @param backend vLLM's name of the API
     * @param model name that requests carry
     * @param startSeconds date of the start, in seconds since 1970
     * @param numPrompts how many requests were wanted
     * @param traffic their pace
     * @param serviceLevels limits for goodput
     */
    public record Setup(
            String url,
            String backend,
            String model,
            long startSeconds,
            long numPrompts,
            Traffic traffic,
            ServiceLevels serviceLevels) {}

    double durationSeconds() {
        return durationNanos / NANOS_PER_SECOND;
    }

    List<BenchRequest> completed() {
        return requests.stream().filter(BenchRequest::isCompleted).toList();
    }

    public long count(End end) {
        return requests.stream().filter(each -> each.end() == end).count();
    }

    long totalInputTokens() {
        return completed().stream().mapToLong(BenchRequest::inputTokens).sum();
    }

    long totalOutputTokens() {
        return completed().stream().mapToLong(BenchRequest::outputTokens).sum();
    }

    double perSecond(long count) {
        return durationNanos == 0 ? 0 : count / durationSeconds();
    }

    double requestGoodput() {
        var levels = setup.serviceLevels;
        return perSecond(completed().stream()
                .filter(each -> levels.areMet(each.priority(), each.ttftNanos(), each.tpotNanos(), each.e2elNanos()))
                .count());
    }

    /** Returns the most chunks in one second, counted from the first request that was answered. */
    long maxOutputTokensPerSecond() {
        long start = completed().stream()
                .mapToLong(each -> each.times().sentNanos())
                .min()
                .orElse(0);
        var counts = new LinkedHashMap<Long, Long>();
        completed().stream()
                .flatMapToLong(each -> each.chunkNanos().longStream())
                .forEach(nanos -> counts.merge((long) ((nanos - start) / NANOS_PER_SECOND), 1L, Long::sum));
        return counts.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    /** Returns the most answered requests at a time, each from its sending to its last chunk, exclusive. */
    long maxConcurrentRequests() {
        record Change(long atNanos, int by) {}
        var changes = completed().stream()
                .flatMap(each ->
                        Stream.of(new Change(each.times().sentNanos(), 1), new Change(each.lastChunkNanos(), -1)))
                .sorted((a, b) ->
                        a.atNanos == b.atNanos ? Integer.compare(a.by, b.by) : Long.compare(a.atNanos, b.atNanos))
                .toList();
        long current = 0;
        long most = 0;
        for (var change : changes) {
            current += change.by;
            most = Math.max(most, current);
        }
        return most;
    }

    /** Returns vLLM's metrics. */
    List<Metric> metrics() {
        var metrics = new ArrayList<Metric>();
        metrics.add(metric(LatencyName.TTFT, BenchRequest::ttftNanos));
        var tokens = completed().stream().filter(each -> each.outputTokens() > 1);
        metrics.add(new Metric(LatencyName.TPOT, tokens.mapToDouble(BenchRequest::tpotNanos)));
        metrics.add(new Metric(LatencyName.ITL, gaps()));
        metrics.add(metric(LatencyName.E2EL, BenchRequest::e2elNanos));
        if (setup.traffic.maxConcurrency() > 0) {
            metrics.add(metric(
                    new LatencyName("client_queue_time", "Client Queue Time", "Client-side Queueing"),
                    BenchRequest::queueNanos));
            if (!setup.traffic.isClosedLoop()) {
                metrics.add(metric(
                        new LatencyName(
                                "e2el_including_client_queue",
                                "E2EL incl. Client Queue",
                                "Queue-inclusive End-to-end Latency"),
                        each -> each.e2elNanos() + each.queueNanos()));
            }
        }
        return metrics;
    }

    /** Returns latencies from the time at which requests were wanted, and how late they were sent. */
    List<Metric> metricsFromSchedule() {
        return List.of(
                metric(
                        new LatencyName("ttft_from_schedule", "TTFT from Schedule", "TTFT from the Intended Send Time"),
                        each -> each.ttftNanos() + each.beforeSendNanos()),
                metric(
                        new LatencyName("e2el_from_schedule", "E2EL from Schedule", "E2EL from the Intended Send Time"),
                        each -> each.e2elNanos() + each.beforeSendNanos()),
                scheduleLag());
    }

    private Metric scheduleLag() {
        return new Metric(
                new LatencyName("schedule_lag", "Schedule Lag", "Lateness of the Client"),
                requests.stream().mapToDouble(BenchRequest::lagNanos));
    }

    /** Returns whether the client did not keep to its schedule; one that sends all at once has none to keep. */
    public boolean isClientLate() {
        return !setup.traffic.isClosedLoop() && scheduleLag().percentileNanos(99) > MAX_LAG_NANOS;
    }

    /** Returns the 99th percentile of how late requests were sent. */
    public double p99LagMillis() {
        return scheduleLag().percentileNanos(99) / 1e6;
    }

    /** Returns how many requests went wrong, by what was said of them, in the order of their first one. */
    public Map<String, Integer> errorCounts() {
        var counts = new LinkedHashMap<String, Integer>();
        requests.stream()
                .filter(each -> each.end() == End.FAILED)
                .forEach(each -> counts.merge(each.error(), 1, Integer::sum));
        return counts;
    }

    private DoubleStream gaps() {
        return completed().stream()
                .flatMapToDouble(each -> IntStream.range(1, each.chunkNanos().size())
                        .mapToDouble(i ->
                                each.chunkNanos().getLong(i) - each.chunkNanos().getLong(i - 1)));
    }

    private Metric metric(LatencyName name, ToDoubleFunction<BenchRequest> nanos) {
        return new Metric(name, completed().stream().mapToDouble(nanos));
    }

    /** Returns the statistics of one of vLLM's metrics. */
    LatencyStats stats(LatencyName name) {
        return metrics().stream()
                .filter(metric -> metric.name().equals(name))
                .findFirst()
                .orElseThrow()
                .stats();
    }
}

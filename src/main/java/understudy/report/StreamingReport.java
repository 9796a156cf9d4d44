package understudy.report;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Arrays;
import java.util.Locale;
import understudy.report.latency.LatencyStats;

/**
 * Figures of roseinfer's {@code benchmark_streaming.py}, with its definitions, and its text: times begin when a
 * request's {@code add_request} is called, and throughput counts answer tokens from the first call to the last token.
 *
 * @param numRequests requests that were answered
 * @param promptTokens tokens of all their prompts
 * @param completionTokens tokens of all their answers
 * @param submitNanos from the first call to the end of the last one
 * @param wallNanos from the first call to the last token
 * @param addRequest how long each call took
 */
@RecordBuilder
public record StreamingReport(
        long numRequests,
        long promptTokens,
        long completionTokens,
        double submitNanos,
        double wallNanos,
        LatencyStats addRequest,
        LatencyStats ttft,
        LatencyStats tpot,
        LatencyStats itl,
        LatencyStats latency) {
    /** First line of the block; then come lines on model and device, if they are known. */
    public static final String TITLE = "=== streaming benchmark ===\n";

    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * Returns the block of a run as text, with a line break at its end; it says nothing of model and device.
     *
     * @param requests those of the run that {@code report} is about
     */
    public static String write(RunReport report, RequestLog requests) {
        long[] arrivalNanos = requests.completed(requests.arrivalNanos);
        long[] queuedNanos = requests.completed(requests.queuedNanos);
        double startNanos = Arrays.stream(arrivalNanos).min().orElse(0);
        return TITLE
                + new StreamingReport(
                        report.numCompleted(),
                        report.totalInputTokens(),
                        report.totalOutputTokens(),
                        max(queuedNanos) - startNanos,
                        max(requests.completed(requests.lastTokenNanos)) - startNanos,
                        LatencyStats.between(arrivalNanos, queuedNanos),
                        report.ttft(),
                        report.tpot(),
                        report.itl(),
                        report.e2el());
    }

    /** Returns all lines below those on model and device, with a line break at the end. */
    @Override
    public String toString() {
        double tokensPerSecond = wallNanos > 0 ? completionTokens / (wallNanos / NANOS_PER_SECOND) : 0;
        return line("Requests: %d", numRequests)
                + line("Prompt tokens (total): %d", promptTokens)
                + line("Completion tokens (total): %d", completionTokens)
                + line("Submit wall: %.6f s", submitNanos / NANOS_PER_SECOND)
                + percentiles("add_request latency", addRequest, "ms")
                + percentiles("TTFT", ttft, "ms")
                + percentiles("TPOT", tpot, "ms/token")
                + percentiles("ITL", itl, "ms")
                + percentiles("Latency", latency, "ms")
                + line("Throughput (completion,total): %.2f tokens/s", tokensPerSecond);
    }

    private static String percentiles(String name, LatencyStats stats, String unit) {
        return line(
                name + " p50/p95/p99: %.2f/%.2f/%.2f " + unit,
                stats.p50Nanos() / NANOS_PER_MILLI,
                stats.p95Nanos() / NANOS_PER_MILLI,
                stats.p99Nanos() / NANOS_PER_MILLI);
    }

    private static String line(String format, Object... values) {
        return String.format(Locale.ROOT, format + "\n", values);
    }

    private static long max(long[] nanos) {
        return Arrays.stream(nanos).max().orElse(0);
    }
}

package understudy.report;

import java.util.Arrays;
import java.util.Locale;
import understudy.report.latency.LatencyStats;

/**
 * Prints a run as roseinfer's {@code benchmark_streaming.py} does, with the same definitions: times begin when a
 * request's {@code add_request} is called, and throughput counts answer tokens from the first call to the last token.
 * What it says of model and device is left out.
 */
public final class StreamingReport {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private StreamingReport() {}

    /**
     * Returns the block as text, with a line break at its end.
     *
     * @param requests those of the run that {@code report} is about
     */
    public static String write(RunReport report, RequestLog requests) {
        long[] arrivalNanos = requests.completed(requests.arrivalNanos);
        long[] queuedNanos = requests.completed(requests.queuedNanos);
        double startNanos = Arrays.stream(arrivalNanos).min().orElse(0);
        double submitNanos = max(queuedNanos) - startNanos;
        double wallNanos = max(requests.completed(requests.lastTokenNanos)) - startNanos;
        double tokensPerSecond = wallNanos > 0 ? report.totalOutputTokens() / (wallNanos / NANOS_PER_SECOND) : 0;
        var addRequest = LatencyStats.between(arrivalNanos, queuedNanos);
        return "=== streaming benchmark ===\n"
                + line("Requests: %d", report.numCompleted())
                + line("Prompt tokens (total): %d", report.totalInputTokens())
                + line("Completion tokens (total): %d", report.totalOutputTokens())
                + line("Submit wall: %.6f s", submitNanos / NANOS_PER_SECOND)
                + percentiles("add_request latency", addRequest, "ms")
                + percentiles("TTFT", report.ttft(), "ms")
                + percentiles("TPOT", report.tpot(), "ms/token")
                + percentiles("ITL", report.itl(), "ms")
                + percentiles("Latency", report.e2el(), "ms")
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

package understudy.bench.result;

import understudy.report.LatencyName;
import understudy.report.StreamingReport;
import understudy.report.latency.LatencyStats;

/** Prints a result as roseinfer's {@code benchmark_streaming.py} does. */
public final class StreamingText {
    private StreamingText() {}

    /** Returns the block as text, with a line break at its end. */
    public static String write(BenchResult result) {
        var completed = result.completed();
        long startNanos = completed.stream()
                .mapToLong(each -> each.times().sentNanos())
                .min()
                .orElse(0);
        long submittedNanos = completed.stream()
                .mapToLong(each -> each.times().handedOverNanos())
                .max()
                .orElse(startNanos);
        long endNanos =
                completed.stream().mapToLong(BenchRequest::lastChunkNanos).max().orElse(startNanos);
        var addRequest = LatencyStats.of(completed.stream()
                .mapToDouble(
                        each -> each.times().handedOverNanos() - each.times().sentNanos())
                .toArray());
        return StreamingReport.TITLE + "Model: " + result.setup().model() + "\nDevice: "
                + result.setup().url() + "\n"
                + new StreamingReport(
                        completed.size(),
                        result.totalInputTokens(),
                        result.totalOutputTokens(),
                        submittedNanos - startNanos,
                        endNanos - startNanos,
                        addRequest,
                        result.stats(LatencyName.TTFT),
                        result.stats(LatencyName.TPOT),
                        result.stats(LatencyName.ITL),
                        result.stats(LatencyName.E2EL));
    }
}

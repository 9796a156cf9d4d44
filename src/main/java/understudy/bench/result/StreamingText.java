package understudy.bench.result;

import understudy.report.LatencyName;
import understudy.report.StreamingReport;
import understudy.report.StreamingReportBuilder;
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
                + StreamingReportBuilder.builder()
                        .numRequests(completed.size())
                        .promptTokens(result.totalInputTokens())
                        .completionTokens(result.totalOutputTokens())
                        .submitNanos((double) (submittedNanos - startNanos))
                        .wallNanos((double) (endNanos - startNanos))
                        .addRequest(addRequest)
                        .ttft(result.stats(LatencyName.TTFT))
                        .tpot(result.stats(LatencyName.TPOT))
                        .itl(result.stats(LatencyName.ITL))
                        .latency(result.stats(LatencyName.E2EL))
                        .build();
    }
}

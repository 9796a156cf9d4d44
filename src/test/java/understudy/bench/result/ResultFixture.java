package understudy.bench.result;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import understudy.bench.result.BenchRequest.End;
import understudy.bench.result.BenchRequest.SendTimes;
import understudy.report.ServiceLevels;
import understudy.workload.RequestRate;
import understudy.workload.Traffic;

/**
 * Results worked out by hand. Milliseconds:
 *
 * <pre>
 * request  wanted  due  sent  chunks                   tokens
 * 0        0       0    0     100, 150, 200            in 10, out 3
 * 1        100     200  210   310, 360, 410, 460       in 20, out 5: two tokens came in one chunk
 * 2        200     200  205   failed
 * 3        300     300  300   400, given up
 * </pre>
 */
final class ResultFixture {
    static final MetricChoice ALL = new MetricChoice(MetricChoice.KNOWN, List.of(99.0));

    private ResultFixture() {}

    static BenchResult result() {
        return result(new Traffic(RequestRate.constant(10), 1, 2, false), limits(105, 60));
    }

    static BenchResult result(Traffic traffic, ServiceLevels levels) {
        var requests = List.of(
                request(0, End.COMPLETED, times(0, 0, 0), chunks(100, 150, 200), 10, 3, ""),
                request(1, End.COMPLETED, times(100, 200, 210), chunks(310, 360, 410, 460), 20, 5, ""),
                request(2, End.FAILED, times(200, 200, 205), chunks(), 20, 0, "HTTP 503: busy"),
                request(3, End.ABORTED, times(300, 300, 300), chunks(400), 20, 1, "given up by the client"));
        var setup = new BenchResult.Setup("http://x:1", "openai", "org/m", 0, 4, traffic, levels);
        return new BenchResult(setup, requests, 500_000_000, false);
    }

    /** Returns limits in milliseconds for TTFT and TPOT. */
    static ServiceLevels limits(long ttft, long tpot) {
        return new ServiceLevels(
                new TreeMap<>(),
                new ServiceLevels.Limits(ttft * 1_000_000, tpot * 1_000_000, ServiceLevels.Limits.OFF, 0));
    }

    /** Returns a request that was sent when it was due, and answered with a chunk. */
    static BenchRequest answered(long id, long sent, long end) {
        return request(id, End.COMPLETED, times(sent, sent, sent), chunks(end), 1, 1, "");
    }

    private static BenchRequest request(
            long id, End end, SendTimes times, LongList chunks, int inputTokens, int outputTokens, String error) {
        return BenchRequestBuilder.builder()
                .id(id)
                .end(end)
                .times(times)
                .chunkNanos(chunks)
                .inputTokens(inputTokens)
                .outputTokens(outputTokens)
                .numRetries(end == End.FAILED ? 1 : 0)
                .text("text" + id)
                .error(error)
                .build();
    }

    /** Each request is handed over 2 ms after it was sent. */
    private static SendTimes times(long wanted, long due, long sent) {
        return new SendTimes(nanos(wanted), nanos(due), nanos(sent), nanos(sent), nanos(sent + 2));
    }

    private static LongList chunks(long... millis) {
        return LongList.of(Arrays.stream(millis).map(ResultFixture::nanos).toArray());
    }

    private static long nanos(long millis) {
        return millis * 1_000_000;
    }
}

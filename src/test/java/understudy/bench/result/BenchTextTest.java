package understudy.bench.result;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.report.ServiceLevels;
import understudy.workload.RequestRate;
import understudy.workload.Traffic;

final class BenchTextTest {

    /**
     * TTFT 100 and 100. TPOT (200 - 100) / 2 = 50 and (250 - 100) / 4 = 37.5. Gaps of 50, five times. E2EL 200 and 250; with
     * queues of 0 and 100 that is 200 and 350. P99 of two values is 0.01 of their distance below the larger one. 8 tokens
     * and 30 in 0.5 s. 7 chunks come within the first second. From 210 to 460 ms one request is under way, as before.
     */
    @Test
    void block_isThatOfVllm() {
        assertThat(text(ResultFixture.result(), ResultFixture.ALL)).startsWith("""
                ============ Serving Benchmark Result ============
                Successful requests:                     2\s\s\s\s\s\s\s\s\s
                Failed requests:                         1\s\s\s\s\s\s\s\s\s
                Maximum request concurrency:             2\s\s\s\s\s\s\s\s\s
                Request rate configured (RPS):           10.00\s\s\s\s\s
                Benchmark duration (s):                  0.50\s\s\s\s\s\s
                Total input tokens:                      30\s\s\s\s\s\s\s\s
                Total generated tokens:                  8\s\s\s\s\s\s\s\s\s
                Request throughput (req/s):              4.00\s\s\s\s\s\s
                Request goodput (req/s):                 4.00\s\s\s\s\s\s
                Output token throughput (tok/s):         16.00\s\s\s\s\s
                Peak output token throughput (tok/s):    7.00\s\s\s\s\s\s
                Peak concurrent requests:                1.00\s\s\s\s\s\s
                Total token throughput (tok/s):          76.00\s\s\s\s\s
                ---------------Time to First Token----------------
                Mean TTFT (ms):                          100.00\s\s\s\s
                Median TTFT (ms):                        100.00\s\s\s\s
                P99 TTFT (ms):                           100.00\s\s\s\s
                -----Time per Output Token (excl. 1st token)------
                Mean TPOT (ms):                          43.75\s\s\s\s\s
                Median TPOT (ms):                        43.75\s\s\s\s\s
                P99 TPOT (ms):                           49.88\s\s\s\s\s
                ---------------Inter-token Latency----------------
                Mean ITL (ms):                           50.00\s\s\s\s\s
                Median ITL (ms):                         50.00\s\s\s\s\s
                P99 ITL (ms):                            50.00\s\s\s\s\s
                ----------------End-to-end Latency----------------
                Mean E2EL (ms):                          225.00\s\s\s\s
                Median E2EL (ms):                        225.00\s\s\s\s
                P99 E2EL (ms):                           249.50\s\s\s\s
                ---------------Client-side Queueing---------------
                Mean Client Queue Time (ms):             50.00\s\s\s\s\s
                Median Client Queue Time (ms):           50.00\s\s\s\s\s
                P99 Client Queue Time (ms):              99.00\s\s\s\s\s
                --------Queue-inclusive End-to-end Latency--------
                Mean E2EL incl. Client Queue (ms):       275.00\s\s\s\s
                Median E2EL incl. Client Queue (ms):     275.00\s\s\s\s
                P99 E2EL incl. Client Queue (ms):        348.50\s\s\s\s
                ==================================================
                """);
    }

    /** From wanted to the end: 200 and 360. Lags of 0, 10, 5 and 0 of all requests. */
    @Test
    void belowIt_standWhatTheScheduleShows_andTheErrors() {
        assertThat(text(ResultFixture.result(), ResultFixture.ALL))
                .contains("Aborted requests:                        1  ")
                .contains("Retries:                                 1  ")
                .contains("Mean TTFT from Schedule (ms):            155.00")
                .contains("Mean E2EL from Schedule (ms):            280.00")
                .contains("Mean Schedule Lag (ms):                  3.75")
                .doesNotContain("Unfinished")
                .endsWith("\n1 x HTTP 503: busy\n");
    }

    @Test
    void choice_leavesOutMetrics_andHasItsPercentiles() {
        var choice = new MetricChoice(List.of("itl"), List.of(25.0, 99.9));

        assertThat(text(ResultFixture.result(), choice))
                .contains("P25 ITL (ms):", "P99.9 ITL (ms):")
                .doesNotContain("P99 ITL", "Mean TTFT (ms)", "Mean Client Queue");
    }

    @Test
    void goodput_countsAnswersWithinEveryLimit() {
        var traffic = new Traffic(RequestRate.constant(10), 1, 0, false);

        // TPOT 50 and 37.5: one of two within 40 ms, in half a second.
        assertThat(ResultFixture.result(traffic, ResultFixture.limits(105, 40)).requestGoodput())
                .isEqualTo(2);
        assertThat(ResultFixture.result(traffic, ResultFixture.limits(99, 60)).requestGoodput())
                .isZero();
    }

    @Test
    void closedLoop_hasNeitherRateNorLateness() {
        var traffic = new Traffic(RequestRate.constant(Double.POSITIVE_INFINITY), 1, 2, false);
        var result = ResultFixture.result(traffic, ServiceLevels.NONE);

        assertThat(text(result, ResultFixture.ALL))
                .contains("Client-side Queueing")
                .doesNotContain("Request rate configured", "Queue-inclusive", "goodput");
    }

    /** One from 100 to 200 ms, one from 0 to 100 ms: never two at a time. */
    @Test
    void requestThatBeginsWhenAnotherEnds_isAlone() {
        var usual = ResultFixture.result();
        var requests = List.of(ResultFixture.answered(0, 100, 200), ResultFixture.answered(1, 0, 100));

        assertThat(new BenchResult(usual.setup(), requests, 1, false).maxConcurrentRequests())
                .isEqualTo(1);
    }

    /** The block of roseinfer: from the first call at 0 to the end of the last one at 212 ms, and to 460 ms. */
    @Test
    void streamingBenchmark_isThatOfRoseinfer() {
        assertThat(StreamingText.write(ResultFixture.result())).isEqualTo("""
                === streaming benchmark ===
                Model: org/m
                Device: http://x:1
                Requests: 2
                Prompt tokens (total): 30
                Completion tokens (total): 8
                Submit wall: 0.212000 s
                add_request latency p50/p95/p99: 2.00/2.00/2.00 ms
                TTFT p50/p95/p99: 100.00/100.00/100.00 ms
                TPOT p50/p95/p99: 43.75/49.38/49.88 ms/token
                ITL p50/p95/p99: 50.00/50.00/50.00 ms
                Latency p50/p95/p99: 225.00/247.50/249.50 ms
                Throughput (completion,total): 17.39 tokens/s
                """);
    }

    private static String text(BenchResult result, MetricChoice choice) {
        return BenchFigures.of(result, new BenchFigures.Options(null, Map.of(), false, choice))
                .text();
    }
}

package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class StreamingReportTest {
    private final ReportFixture fixture = new ReportFixture();

    @Test
    void block_isThatOfTheBenchmark() {
        // Requests 0 and 1 are answered, with 100 and 200 prompt tokens and 4 and 1 tokens. They are called at 1 and 3
        // s and
        // handed over 0.1 s later: the last one at 3.1 s, 2.1 s after the first call. First tokens after 1 and 3 s,
        // last
        // ones after 4 and 3 s; 95 % between two values is 0.05 of their distance below the larger one. The gaps are
        // three of 1 s. 5 tokens from 1 to 6 s are one per second.
        assertThat(StreamingReport.write(fixture.report(), fixture.run().requests()))
                .isEqualTo("""
                        === streaming benchmark ===
                        Requests: 2
                        Prompt tokens (total): 300
                        Completion tokens (total): 5
                        Submit wall: 2.100000 s
                        add_request latency p50/p95/p99: 100.00/100.00/100.00 ms
                        TTFT p50/p95/p99: 2000.00/2900.00/2980.00 ms
                        TPOT p50/p95/p99: 1000.00/1000.00/1000.00 ms/token
                        ITL p50/p95/p99: 1000.00/1000.00/1000.00 ms
                        Latency p50/p95/p99: 3500.00/3950.00/3990.00 ms
                        Throughput (completion,total): 1.00 tokens/s
                        """);
    }

    @Test
    void nothingAnswered_isAllZero() {
        var empty = RunRecordBuilder.builder()
                .log(new RunLog(false))
                .replicas(List.of())
                .replicaHistory(List.of())
                .build();

        assertThat(StreamingReport.write(RunReport.of(empty), empty.requests()))
                .contains("Requests: 0\n")
                .contains("Throughput (completion,total): 0.00 tokens/s\n");
    }
}

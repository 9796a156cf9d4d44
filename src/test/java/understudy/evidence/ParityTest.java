package understudy.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The same workload through HTTP and in virtual time: the same tokens in the same order. Times are ParityReport's business. */
final class ParityTest {
    /** Far enough apart for their order to be certain on a busy machine: 200 ms of wall time, at five times its speed. */
    private static final Map<String, String> SETTINGS = Map.of(
            "clock.speed", "5",
            "cluster.replicas", "2",
            "workload.requests", "16",
            "workload.arrivals.kind", "constant",
            "workload.arrivals.request-rate", "1",
            "workload.lengths.output.mean", "40",
            "workload.lengths.output.stddev", "15");

    @Test
    void bothGiveTheSameTokensInTheSameOrder() throws Exception {
        var virtual = ParityReport.run("conf/serve.conf", SETTINGS);
        var http = ParityReport.serve("conf/serve.conf", SETTINGS);

        assertThat(http).hasSize(16);
        assertThat(http)
                .extracting(served -> served.tokenNanos().size())
                .containsExactlyElementsOf(virtual.stream()
                        .map(served -> served.tokenNanos().size())
                        .toList());
        assertThat(orderOfFirstTokens(http)).isEqualTo(orderOfFirstTokens(virtual));
    }

    private static List<Long> orderOfFirstTokens(List<ParityReport.Served> all) {
        return all.stream()
                .sorted(Comparator.comparingLong(
                        served -> served.arrivalNanos() + served.tokenNanos().getLong(0)))
                .map(ParityReport.Served::id)
                .toList();
    }
}

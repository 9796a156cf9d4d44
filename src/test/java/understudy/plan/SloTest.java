package understudy.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.report.LatencyName;
import understudy.sweep.PointResult;

final class SloTest {
    private static final Slo P99 = new Slo(List.of(new Limit(LatencyName.TTFT, "p99", 500)));

    private static PointResult run(String figures) throws JsonProcessingException {
        return new PointResult("x", Optional.empty(), false, (ObjectNode) new ObjectMapper().readTree(figures));
    }

    /** Above the p99 of 2,000 requests there are 20, above the p95 of 400, the p90 of 200, and the median of 40. */
    @ParameterizedTest
    @CsvSource({
        "p99, 2000, p99_ttft_ms", "p99, 1999, p95_ttft_ms", "p99, 400, p95_ttft_ms", "p99, 399, p90_ttft_ms",
        "p99, 200, p90_ttft_ms", "p99, 199, median_ttft_ms", "p90, 100000, p90_ttft_ms", "max, 100000, p99_ttft_ms",
        "mean, 1, mean_ttft_ms"
    })
    void shortLoad_refutesByWhatRestsOnTwentyRequests(String statistic, long numRequests, String key) {
        assertThat(new Limit(LatencyName.TTFT, statistic, 1).firmKey(numRequests))
                .isEqualTo(key);
    }

    @Test
    void fewSlowRequests_refuteTheWholeLoadAlone() throws JsonProcessingException {
        var runs = List.of(run("{\"p99_ttft_ms\": 600, \"p90_ttft_ms\": 400}"));

        assertThat(P99.judge(runs, 250, false).isRefuted()).isFalse();
        var whole = P99.judge(runs, 250, true);
        assertThat(whole.isRefuted()).isTrue();
        assertThat(whole.isKept()).isFalse();
        assertThat(whole.ratio()).isEqualTo(1.2);
    }

    @Test
    void worstSeed_decides() throws JsonProcessingException {
        var runs = List.of(run("{\"p99_ttft_ms\": 400}"), run("{\"p99_ttft_ms\": 501}"));

        assertThat(P99.judge(runs, 4000, true).isKept()).isFalse();
        assertThat(P99.judge(runs.subList(0, 1), 4000, true).isKept()).isTrue();
    }

    @Test
    void requestWithoutAnAnswer_refutes() throws JsonProcessingException {
        var runs = List.of(run("{\"p99_ttft_ms\": 1, \"p90_ttft_ms\": 1, \"rejected\": 1}"));

        var judgement = P99.judge(runs, 250, false);

        assertThat(judgement.isRefuted()).isTrue();
        assertThat(judgement.tightest().limit()).isEqualTo("requests without an answer");
    }

    /** Of 98 % that are good 2 % are not, of 5 % that need not be: two fifths of the level. */
    @Test
    void goodput_countsByTheRequestsThatMayMiss() throws JsonProcessingException {
        var kept = run("{\"service_levels\": [{\"attainment\": 0.98, \"wanted\": 0.95, \"met\": true}]}");
        var missed = run("{\"service_levels\": [{\"attainment\": 0.93, \"wanted\": 0.95, \"met\": false}]}");
        var slo = new Slo(List.of());

        assertThat(slo.judge(List.of(kept), 1000, true).ratio()).isCloseTo(0.4, within(1e-9));
        assertThat(slo.judge(List.of(missed), 1000, true).isRefuted()).isTrue();
        // 7 % of 250 requests are 17: fewer than 20.
        assertThat(slo.judge(List.of(missed), 250, false).isRefuted()).isFalse();
        // 7 % of 1,000 are 70, and 50 may miss.
        assertThat(slo.judge(List.of(missed), 1000, false).isRefuted()).isTrue();
    }

    @Test
    void loads_endWithTheWholeOne() {
        assertThat(Loads.of(4000, 250, 4).requests()).containsExactly(250L, 1000L, 4000L);
        assertThat(Loads.of(4001, 251, 4).requests()).containsExactly(1000L, 4001L);
        assertThat(Loads.of(100, 250, 4).requests()).containsExactly(100L);
    }
}

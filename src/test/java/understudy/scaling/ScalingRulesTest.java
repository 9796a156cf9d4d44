package understudy.scaling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Collections;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.latency.ApiDelay;
import understudy.latency.LinearLatency;
import understudy.report.latency.LatencyStats;
import understudy.scaling.ScalingMetrics.ReplicaLoad;

final class ScalingRulesTest {
    private static final long SECOND = 1_000_000_000L;
    private static final LatencyStats NO_TTFT = LatencyStats.of(new double[0]);

    // 10 per replica are wanted. 3 replicas with 20 each: ceil(60 / 10) = 6. With 11 each the ratio of 1.1 is within
    // the
    // tolerance; 12 each: ceil(36 / 10) = 4; with 9 it stays, 8: ceil(24 / 10) = 3 is no change either; 6: ceil(1.8) =
    // 2.
    @ParameterizedTest
    @CsvSource({"20, 6", "11, 3", "12, 4", "9, 3", "8, 3", "6, 2", "0, 0"})
    void hpa_followsTheMeanInProportion(int waiting, int expected) {
        assertThat(queue().desired(waiting(3, waiting, 0))).isEqualTo(expected);
    }

    // 2 ready with 30 each, ratio 3. Alone: 6. With 2 that start and count as 0: 60 / 4 = 15, ratio 1.5, 6 again. With
    // 4:
    // 60 / 6 = 10 is the target, so 6 stay. With 6: 60 / 8 = 7.5 would lead down, so 8 stay.
    @ParameterizedTest
    @CsvSource({"0, 6", "2, 6", "4, 6", "6, 8"})
    void hpa_countsStartingReplicasAsIdleOnTheWayUp(int starting, int expected) {
        assertThat(queue().desired(waiting(2, 30, starting))).isEqualTo(expected);
    }

    @Test
    void hpa_leavesStartingReplicasOutOnTheWayDown() {
        // The two that are ready have 2 each: ceil(0.2 x 2) = 1, whatever starts.
        assertThat(queue().desired(waiting(2, 2, 3))).isEqualTo(1);
    }

    // Of ten replicas a ratio of 0.9 would leave nine; 0.89 leaves ceil(8.9) = 9, and 0.8 leaves 8.
    @ParameterizedTest
    @CsvSource({"0.9, 10", "0.89, 9", "0.8, 8"})
    void hpa_leavesTheNumberAloneWithinTheTolerance(double usage, int expected) {
        var metrics = new ScalingMetrics(0, loads(10, new ReplicaLoad(0, 0, usage)), 0, 0, NO_TTFT, 0);

        assertThat(hpa(ScalingMetric.KV_CACHE_USAGE_PERC, 1).desired(metrics)).isEqualTo(expected);
    }

    static Stream<ScalingRule> rules() {
        var byMetric = Stream.of(ScalingMetric.values())
                .filter(ScalingMetric::isSum)
                .map(metric -> new Keda(new Keda.Options(metric, 1, 0, 0, false)));
        var others = Stream.of(new SloTtft(1), new TokenAware(1e9, 1, 0.1));
        var hpas = Stream.of(ScalingMetric.values()).map(metric -> hpa(metric, 1));
        return Stream.of(hpas, byMetric, others).flatMap(rules -> rules);
    }

    /** Two replicas with all of their KV in use instead of none; a rule that says so wants others then. */
    @ParameterizedTest
    @MethodSource("rules")
    void ruleSaysWhetherItReadsTheUsageOfKv(ScalingRule rule) {
        int whenFull = rule.desired(new ScalingMetrics(0, loads(2, new ReplicaLoad(2, 2, 1)), 0, 2, NO_TTFT, 0));
        int whenEmpty = rule.desired(new ScalingMetrics(0, loads(2, new ReplicaLoad(2, 2, 0)), 0, 2, NO_TTFT, 0));

        assertThat(whenFull != whenEmpty).isEqualTo(rule.readsKvUsage());
    }

    @Test
    void hpa_withoutAReadyReplica_staysWhereItIs() {
        assertThat(queue().desired(waiting(0, 0, 3))).isEqualTo(3);
    }

    @Test
    void hpa_followsEachMetric() {
        var metrics = new ScalingMetrics(
                0,
                List.of(new ReplicaLoad(1, 30, 0.9), new ReplicaLoad(0, 50, 0.5)),
                0,
                60_000,
                ttft(1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3),
                0);

        // Means: (30 + 50) / 2 = 40, 1.4 / 2 = 0.7, 30,000, and a 90th percentile of 3 s.
        assertThat(hpa(ScalingMetric.NUM_REQUESTS_RUNNING, 20).desired(metrics)).isEqualTo(4);
        assertThat(hpa(ScalingMetric.KV_CACHE_USAGE_PERC, 0.35).desired(metrics))
                .isEqualTo(4);
        assertThat(hpa(ScalingMetric.INFLIGHT_TOKENS, 12_000).desired(metrics)).isEqualTo(5);
        assertThat(hpa(ScalingMetric.TTFT_P90, 2).desired(metrics))
                .as("1.5 x 2")
                .isEqualTo(3);
    }

    @Test
    void hpa_withoutATtft_staysWhereItIs() {
        assertThat(hpa(ScalingMetric.TTFT_P90, 2).desired(waiting(3, 0, 0))).isEqualTo(3);
    }

    // 5 per replica: ceil(31 / 5) = 7. 2 replicas and 11 in all: 11 / 10 is within the tolerance.
    @ParameterizedTest
    @CsvSource({"1, 31, 7", "2, 11, 2", "4, 5, 1"})
    void keda_dividesTheSumByTheThreshold(int numReplicas, int sum, int expected) {
        assertThat(keda(0).desired(inflight(0, numReplicas, sum))).isEqualTo(expected);
    }

    @Test
    void keda_goesToZeroAfterTheCooldown_andStartsOneAgain() {
        var rule = keda(3);

        assertThat(rule.desired(inflight(100, 2, 4))).as("active").isEqualTo(1);
        assertThat(rule.desired(inflight(399, 1, 3)))
                .as("3 are not more than 3, for 299 s")
                .isEqualTo(1);
        assertThat(rule.desired(inflight(400, 1, 3))).as("for 300 s").isZero();
        assertThat(rule.desired(inflight(415, 0, 3))).isZero();
        assertThat(rule.desired(inflight(430, 0, 40)))
                .as("KEDA starts one, its HPA the others")
                .isEqualTo(1);
        assertThat(rule.desired(inflight(445, 1, 40))).isEqualTo(8);
    }

    @Test
    void keda_withAMinimum_neverGoesToZero() {
        var rule = new Keda(new Keda.Options(ScalingMetric.INFLIGHT_TOKENS, 5, 0, 300 * SECOND, false));

        assertThat(rule.desired(inflight(1000, 1, 0))).isEqualTo(1);
    }

    // llm-d's figures: 100,000 / 15,928 / 5 = 1.26, 100,000 / 33,821 / 5 = 0.59, 100,000 / 2,696 / 5 = 7.42.
    @ParameterizedTest
    @CsvSource({"15928, 2", "33821, 1", "2696, 8"})
    void tokenAware_hasEnoughReplicasForThePromptsUnderWay(double prefillTokensPerSecond, int expected) {
        var rule = new TokenAware(prefillTokensPerSecond, 5, 0.8);

        assertThat(rule.desired(new ScalingMetrics(0, loads(1, new ReplicaLoad(0, 1, 0.1)), 0, 100_000, NO_TTFT, 0)))
                .isEqualTo(expected);
    }

    @Test
    void tokenAware_hasEnoughMemory() {
        // 4 x 0.7 = 2.8; ceil(2.8 / 0.8) = ceil(3.5) = 4, more than the one for 79,640 / 15,928 / 5 = 1.
        var metrics = new ScalingMetrics(0, loads(4, new ReplicaLoad(0, 9, 0.7)), 0, 79_640, NO_TTFT, 0);

        assertThat(new TokenAware(15_928, 5, 0.8).desired(metrics)).isEqualTo(4);
    }

    @Test
    void prefillSpeed_isThatOfAFullChunkOnAnIdleReplica() {
        // 6 ms + 2000 x 20 us + 2 ms + 2000 x 1 us at the API = 50 ms for 2000 tokens: 40,000 per second.
        var latency = new LinearLatency(6e6, 20e3, 0, 0);

        assertThat(TokenAware.prefillTokensPerSecond(latency, 2000, new ApiDelay(2_000_000, 1_000)))
                .isCloseTo(40_000, within(1e-6));
    }

    // A target of 2 s. Above it: 2 ready x 3 / 2 = 3, 5 / 2 = 5; at most what there is already. Below 1 s: one less.
    @ParameterizedTest
    @CsvSource({"3, 0, 3", "5, 0, 5", "3, 4, 6", "2, 0, 2", "1, 0, 2", "0.9, 0, 1", "0.9, 1, 2"})
    void slo_followsTheTtft(double p90Seconds, int starting, int expected) {
        var metrics = new ScalingMetrics(0, loads(2, ReplicaLoad.NONE), starting, 0, ttft(p90Seconds), 0);

        assertThat(new SloTtft(2).desired(metrics)).isEqualTo(expected);
    }

    @Test
    void slo_withoutAFirstToken_asksWhetherAnyRequestWaitsForOne() {
        var busy = new ScalingMetrics(0, loads(2, ReplicaLoad.NONE), 0, 1, NO_TTFT, 0);
        var idle = new ScalingMetrics(0, loads(2, ReplicaLoad.NONE), 0, 0, NO_TTFT, 0);

        assertThat(new SloTtft(2).desired(busy)).isEqualTo(2);
        assertThat(new SloTtft(2).desired(idle)).isEqualTo(1);
    }

    private static Hpa queue() {
        return hpa(ScalingMetric.NUM_REQUESTS_WAITING, 10);
    }

    private static Hpa hpa(ScalingMetric metric, double target) {
        return new Hpa(metric, target, 0.1);
    }

    private static Keda keda(double activationThreshold) {
        return new Keda(new Keda.Options(ScalingMetric.INFLIGHT_TOKENS, 5, activationThreshold, 300 * SECOND, true));
    }

    private static ScalingMetrics waiting(int ready, int waiting, int starting) {
        return new ScalingMetrics(0, loads(ready, new ReplicaLoad(waiting, 0, 0)), starting, 0, NO_TTFT, 0);
    }

    private static ScalingMetrics inflight(long atSeconds, int numReplicas, int sum) {
        return new ScalingMetrics(atSeconds * SECOND, loads(numReplicas, ReplicaLoad.NONE), 0, sum, NO_TTFT, 0);
    }

    private static List<ReplicaLoad> loads(int count, ReplicaLoad each) {
        return Collections.nCopies(count, each);
    }

    private static LatencyStats ttft(double... seconds) {
        return LatencyStats.of(DoubleStream.of(seconds).map(s -> s * SECOND).toArray());
    }
}

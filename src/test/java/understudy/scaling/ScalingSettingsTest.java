package understudy.scaling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.report.latency.LatencyStats;
import understudy.scaling.ScalingMetrics.ReplicaLoad;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

final class ScalingSettingsTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void off_isNothing_unlessThereIsAPrice() {
        assertThat(read("").scaling()).isEmpty();
        assertThat(read("scaling.rule = off").scaling()).isEmpty();
        assertThat(scaling("scaling.gpu-hour-price = 2.5, latency.tensor-parallel-size = 4"))
                .satisfies(spec -> {
                    assertThat(spec.rule()).isEmpty();
                    assertThat(spec.gpuHourPrice()).isEqualTo(2.5);
                    assertThat(spec.gpusPerReplica()).isEqualTo(4);
                });
    }

    @Test
    void eachRule_isMadeAnewForEachRun() {
        assertThat(scaling("scaling.rule = hpa").rule().orElseThrow().get())
                .isEqualTo(new Hpa(ScalingMetric.NUM_REQUESTS_WAITING, 10, 0.1));
        assertThat(scaling("scaling { rule = hpa, hpa { metric = ttft-p90, target = 3 } }")
                        .rule()
                        .orElseThrow()
                        .get())
                .isEqualTo(new Hpa(ScalingMetric.TTFT_P90, 3, 0.1));
        assertThat(scaling("scaling.rule = slo").rule().orElseThrow().get()).isEqualTo(new SloTtft(2));
        var keda = scaling("scaling.rule = keda").rule().orElseThrow();
        assertThat(keda.get()).isInstanceOf(Keda.class).isNotSameAs(keda.get());
    }

    @Test
    void prefillSpeed_followsFromTheLatencyModel_orIsGiven() {
        // 8192 tokens in 6.5 ms + 8192 x 23 us + 4 ms = 198.916 ms: 41,183 per second. 5 s of that are 205,916.
        var derived = (TokenAware) scaling("latency.model = linear, scaling.rule = token-aware")
                .rule()
                .orElseThrow()
                .get();
        assertThat(derived.prefillTokensPerSecond()).isCloseTo(8192 / 0.198916, within(1e-6));
        assertThat(derived.desired(inflight(205_900))).isEqualTo(1);
        assertThat(derived.desired(inflight(206_000))).isEqualTo(2);

        String given = "scaling { rule = token-aware, token-aware.prefill-tokens-per-second = 15928 }";
        assertThat(scaling(given).rule().orElseThrow().get()).isEqualTo(new TokenAware(15_928, 5, 0.8));
    }

    @Test
    void startupTime_isThatOfTheWeights_orGiven() {
        // 8,030,261,248 weights of 2 bytes at 2 GB/s and 60 s; Llama-3.1-70B has 70.55 billion weights of 2 bytes, at 4
        // GB/s.
        assertThat(scaling("scaling.rule = hpa").startupNanos()).isEqualTo(68_030_261_248L);
        String large = "scaling { rule = hpa, startup.weights-gb-per-s = 4 }, latency { llm = llama-3.1-70b,"
                + " tensor-parallel-size = 8 }";
        assertThat(scaling(large).startupNanos() / 1e9).isCloseTo(60 + 70.55 * 2 / 4, within(0.1));
        assertThat(scaling("scaling { rule = hpa, startup-time = 7s }").startupNanos())
                .isEqualTo(7 * SECOND);
    }

    @ParameterizedTest
    @CsvSource({
        "'rule = vpa', 'scaling.rule is \"vpa\", must be one of off, hpa, keda, token-aware, slo'",
        "'rule = hpa, min-replicas = 0', 'scaling.min-replicas is 0, must be from 1'",
        "'rule = keda, min-replicas = 0', 'but requests must be able to wait for a replica'",
        "'min-replicas = 5, max-replicas = 4', 'scaling.max-replicas is 4, must be from 5'",
        "'interval = 0s', 'scaling.interval is \"0s\", must be at least 1ms'",
        "'keda.metric = ttft-p90', 'scaling.keda.metric is \"ttft-p90\", but KEDA divides a sum'",
        "'token-aware.prefill-tokens-per-second = 0', 'must be a number above 0'",
        "'hpa.goal = 3', 'unknown key scaling.hpa.goal'"
    })
    void mistakes_areNamed(String settings, String message) {
        assertThatThrownBy(() -> read("scaling { " + settings + " }"))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(message);
    }

    private static ScalingSpec scaling(String settings) {
        return read(settings).scaling().orElseThrow();
    }

    private static Scenario read(String settings) {
        return Scenario.read(new ScenarioFile(Map.of()).load(Section.of(settings)));
    }

    private static ScalingMetrics inflight(long tokens) {
        return new ScalingMetrics(0, List.of(new ReplicaLoad(0, 0, 0)), 0, tokens, LatencyStats.of(new double[0]), 0);
    }
}

package understudy.fidelity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.fidelity.probe.Probing;
import understudy.latency.BatchShape;
import understudy.latency.ProfileLatency;
import understudy.settings.Section;

/** A device whose numbers are known is probed in virtual time, and found again in when the tokens came. */
final class ServerCalibrationTest {
    private static final ProfileLatency HIDDEN = new ProfileLatency(9e6, 30e3, 60, 1.5, 20);
    private static final String SETTINGS = """
        latency {
          model = profile
          api-delay = 3ms
          api-delay-per-prompt-token = 2us
          profile {
            weights = 9ms, per-token = 30us, per-kv-token = 60ns, per-attention-pair = 1.5ns
            per-mixed-kv-token = 20ns
          }
        }
        """;

    private static final Probing.Settings USUAL = new Probing.Settings(16_384, true, 300, 7);

    /** Times are exact but for the growth of contexts within a probe, a thousandth of a step, and the simplex's precision. */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void hiddenNumbers_areFound(boolean isAsync) throws InterruptedException {
        var fitted = calibrate("kv-cache.num-gpu-blocks = 60000, engine.async-scheduling = " + isAsync, USUAL);

        var latency = Section.of(fitted.settings()).section("latency");
        assertThat(fitted.warnings()).isEmpty();
        assertThat(latency.nanos("api-delay")).isCloseTo(3e6, Percentage.withPercentage(1));
        assertThat(latency.nanos("api-delay-per-prompt-token")).isCloseTo(2e3, Percentage.withPercentage(1));
        var found = ProfileLatency.read(latency.section("profile"));
        assertThat(found.weightsNanos()).isCloseTo(9e6, Percentage.withPercentage(0.2));
        assertThat(found.perTokenNanos()).isCloseTo(30e3, Percentage.withPercentage(0.2));
        assertThat(found.perKvTokenNanos()).isCloseTo(60, Percentage.withPercentage(1));
        assertThat(found.perAttentionPairNanos()).isCloseTo(1.5, Percentage.withPercentage(2));
        assertThat(found.perMixedKvTokenNanos()).isCloseTo(20, Percentage.withPercentage(5));
        assertThat(found).satisfies(ServerCalibrationTest::hasTheHiddenStepTimes);
    }

    /** Steps of other batches than the probed ones, up to 128 decodes and contexts of 8,000 tokens. */
    private static void hasTheHiddenStepTimes(ProfileLatency found) {
        for (int prefill : new int[] {0, 100, 700, 2000}) {
            for (int context : new int[] {0, 3000}) {
                for (int decodes : new int[] {1, 6, 40, 128}) {
                    for (int decodeContext : new int[] {100, 8000}) {
                        var batch = new BatchShape.Builder();
                        if (prefill > 0) {
                            batch.add(prefill, context, true);
                        }
                        for (int i = 0; i < decodes; i++) {
                            batch.add(1, decodeContext, true);
                        }
                        assertThat((double) found.stepNanos(batch.build()))
                                .as(prefill + "@" + context + " and " + decodes + "@" + decodeContext)
                                .isCloseTo((double) HIDDEN.stepNanos(batch.build()), Percentage.withPercentage(2));
                    }
                }
            }
        }
    }

    /** SGLang computes prompts between decodes, so that nothing shows what they cost each other in a step. */
    @Test
    void anEngineThatDoesNotMix_doesNotTellWhatMixingCosts() throws InterruptedException {
        var fitted = calibrate("engine.kind = sglang", new Probing.Settings(16_384, false, 300, 7));

        assertThat(fitted.warnings())
                .containsExactly("warning: these steps do not tell per-mixed-kv-token; taken from a generic device of"
                        + " the same speed");
        assertThat(fitted.table()).contains("a prompt between decodes").doesNotContain("beside");
        var found = ProfileLatency.read(
                Section.of(fitted.settings()).section("latency").section("profile"));
        assertThat(found.weightsNanos()).isCloseTo(9e6, Percentage.withPercentage(1));
        assertThat(found.perTokenNanos()).isCloseTo(30e3, Percentage.withPercentage(1));
    }

    @Test
    void aServerWithoutPrefixCache_isProbedWithColdPromptsAlone() throws InterruptedException {
        var fitted = calibrate("kv-cache.enable-prefix-caching = false", USUAL);

        assertThat(fitted.warnings())
                .anySatisfy(line -> assertThat(line).contains("left out: prompts behind a prefix"));
        assertThat(fitted.table()).doesNotContain("warm").doesNotContain("cached prefix");
    }

    /** Two warm-ups, 16 cold prompts, 2 prefixes with 4 prompts each: 28; no probe of a busy server has two alone. */
    @Test
    void fewRequests_areTooFewToFit() {
        assertThatThrownBy(() -> calibrate("", new Probing.Settings(16_384, true, 30, 7)))
                .isInstanceOf(UnfitProbesException.class)
                .hasMessage(
                        "test: 0 of 50 steps show in when tokens came, too few to fit; left out: 11 probes, which would"
                                + " make more than 30 requests");
    }

    private static ServerCalibration calibrate(String more, Probing.Settings settings) throws InterruptedException {
        try (var probes = new EmulatedProbes(SETTINGS + more)) {
            return ServerCalibration.of(Probing.of(probes, settings), new ServerCalibration.Source("test", null, 0));
        }
    }
}

package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.ProfileFit.Measurement;

final class ProfileFitTest {
    @Test
    void stepsOfADevice_giveBackItsNumbers() {
        var device = new ProfileLatency(6.5e6, 23e3, 46, 0.9, 10);

        var fitted = ProfileFit.fit(steps(device));

        assertThat(fitted.weightsNanos()).isCloseTo(6.5e6, withinPercentage(0.1));
        assertThat(fitted.perTokenNanos()).isCloseTo(23e3, withinPercentage(0.1));
        assertThat(fitted.perKvTokenNanos()).isCloseTo(46, withinPercentage(0.1));
        assertThat(fitted.perAttentionPairNanos()).isCloseTo(0.9, withinPercentage(0.1));
        assertThat(fitted.perMixedKvTokenNanos()).isCloseTo(10, withinPercentage(1));
    }

    @Test
    void whatNoStepTellsAnythingAbout_isZero() {
        var device = new ProfileLatency(6.5e6, 23e3, 46, 0.9, 10);
        var decodesOnly = steps(device).stream()
                .filter(step -> step.batch().numChunks() == 0)
                .toList();

        var fitted = ProfileFit.fit(decodesOnly);

        assertThat(fitted.perAttentionPairNanos()).isZero();
        assertThat(fitted.perMixedKvTokenNanos()).isZero();
        assertThat(fitted.perKvTokenNanos()).isCloseTo(46, withinPercentage(0.5));
    }

    @Test
    void fit_isTheSameEveryTime() {
        var steps = steps(new ProfileLatency(1e6, 3e3, 4, 0.05, 1));

        assertThat(ProfileFit.fit(steps)).isEqualTo(ProfileFit.fit(steps));
    }

    @Test
    void layers_giveBackTheFiguresOfTheirGpu() {
        var truth = RooflineFixture.GPU.withGemm(new GpuSpec.Efficiency(0.6, 0.75, 5));
        var layers = Stream.of(1, 16, 256, 1024, 4096, 100_000)
                .flatMap(m -> Stream.of(RooflineFixture.dense(), wide())
                        .map(layer -> new LayerFit.Measurement(layer, 1, m, micros(layer, truth, m))))
                .toList();

        var fitted = new LayerFit(RooflineFixture.GPU, layers).fit().gemm();

        assertThat(fitted.compute()).isCloseTo(0.6, withinPercentage(1));
        assertThat(fitted.bandwidth()).isCloseTo(0.75, withinPercentage(0.1));
        assertThat(fitted.overheadMicros()).isCloseTo(5, withinPercentage(0.1));
    }

    private static double micros(LlmSpec layer, GpuSpec gpu, int numTokens) {
        return new LayerTime(layer, gpu, Parallelism.ofTensors(1)).micros(numTokens, numTokens);
    }

    /** A layer wide enough to be bound by arithmetic, as the tiny one never is. */
    private static LlmSpec wide() {
        var attention = new LlmSpec.Attention(32, 8, 128, QkNorm.NONE, false, 0, 0, null);
        var ffn = new LlmSpec.FeedForward(14336, true, 1, 0, 0, 0, 0, false, false);
        return LlmSpecBuilder.builder()
                .name("wide")
                .numLayers(1)
                .hiddenSize(4096)
                .vocabSize(1)
                .tiesEmbeddings(true)
                .maxPositionEmbeddings(1)
                .attention(attention)
                .feedForward(ffn)
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }

    /** The eight steps that are worth measuring. */
    static List<Measurement> steps(LatencyModel device) {
        return Stream.of(
                        batch(0, 0, 1, 128),
                        batch(0, 0, 8, 128),
                        batch(0, 0, 64, 128),
                        batch(0, 0, 32, 4096),
                        batch(512, 0, 0, 0),
                        batch(2048, 0, 0, 0),
                        batch(512, 4096, 0, 0),
                        batch(1024, 0, 32, 1024))
                .map(batch -> new Measurement(batch, device.stepNanos(batch)))
                .toList();
    }

    static BatchShape batch(int prefill, int prefillContext, int decodes, int decodeContext) {
        var builder = new BatchShape.Builder();
        if (prefill > 0) {
            builder.add(prefill, prefillContext, true);
        }
        for (int i = 0; i < decodes; i++) {
            builder.add(1, decodeContext, true);
        }
        return builder.build();
    }
}

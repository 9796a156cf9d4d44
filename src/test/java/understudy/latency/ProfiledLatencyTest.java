package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.latency.RooflineFixture.NO_HOST;
import static understudy.latency.RooflineFixture.chunk;
import static understudy.latency.RooflineFixture.decodes;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class ProfiledLatencyTest {
    @Test
    void table_interpolatesHoldsAndGoesOn() {
        var table = table(new double[] {10, 20, 60, 100}, 8, 16, 32, 64);

        assertThat(table.micros(16)).isEqualTo(20);
        assertThat(table.micros(12)).as("half way").isEqualTo(15);
        assertThat(table.micros(1)).as("below the first").isEqualTo(10);
        // Over the last half, from 32 to 64, it grows by 40: at 96 by as much again.
        assertThat(table.micros(96)).isEqualTo(140);
    }

    @Test
    void table_needsNoFullGrid() {
        var builder = new KernelTable.Builder();
        builder.add(10, 1, 100);
        builder.add(20, 1, 200);
        builder.add(40, 2, 150);
        var table = builder.build();

        assertThat(table.micros(1, 150)).isEqualTo(15);
        // 20 at 1, and 40 at 2, where nothing but 150 was measured.
        assertThat(table.micros(1.5, 200)).isEqualTo(30);
    }

    @Test
    void step_sumsKernelsOverLayers() {
        var model = model(twoLayers());

        // Per layer 2 * 1 norm, 5 qkv, attention 3: 20 for both; embedding 7, head 9 for the one that samples.
        assertThat(model.stepNanos(decodes(1, 0))).isEqualTo(36_000);
    }

    @Test
    void chunks_addUpBesideTheLongest() {
        var batch = new BatchShape.Builder();
        batch.add(16, 0, false);
        batch.add(32, 0, false);
        batch.add(32, 0, false);

        double attention = attentionMicros(model(twoLayers()), batch.build());

        // 20 for the first of 32 tokens; the other 20 and the 12 of 16 tokens count beyond the 12 of the smallest
        // chunk.
        assertThat(attention).isCloseTo(2 * (20 + 8 + 0), within(1e-9));
        // A chunk of 4 tokens takes as long as the smallest measured one.
        assertThat(attentionMicros(model(twoLayers()), chunk(4, 0))).isCloseTo(2 * 12, within(1e-9));
    }

    @Test
    void experts_areLookedUpByTheirExpectedNumber() {
        var moe = new KernelTable.Builder();
        moe.add(10, 1, 2);
        moe.add(40, 2, 2);
        moe.add(80, 2, 4);
        var tables = tables(moe.build());
        var model = new ProfiledLatency(tables, RooflineFixture.experts(), Parallelism.ofTensors(1), null, NO_HOST);

        // One token uses 2 of 8 experts: 10 and 2 * 1 + 5. Two tokens use 8 (1 - (6/8)^2) = 3.5: 70.
        assertThat(linearMicros(model, decodes(1, 0))).isCloseTo(17, within(1e-9));
        assertThat(linearMicros(model, decodes(2, 0))).isCloseTo(77, within(1e-9));
    }

    private static LlmSpec twoLayers() {
        var attention = RooflineFixture.dense().attention();
        var ffn = new LlmSpec.FeedForward(20, true, 2, 0, 0, 0, 0, false, false);
        return LlmSpecBuilder.builder()
                .name("two")
                .numLayers(2)
                .hiddenSize(10)
                .vocabSize(100)
                .maxPositionEmbeddings(1000)
                .attention(attention)
                .feedForward(ffn)
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }

    private static ProfiledLatency model(LlmSpec llm) {
        return new ProfiledLatency(tables(null), llm, Parallelism.ofTensors(1), null, NO_HOST);
    }

    private static KernelTables tables(KernelTable experts) {
        var attention = new KernelTable.Builder();
        attention.add(3, 0, 0, 1, 16);
        attention.add(4, 0, 0, 2, 16);
        attention.add(12, 16, 0, 0, 0);
        attention.add(20, 32, 0, 0, 0);
        return new KernelTables(
                Map.of(
                        "layernorm", table(new double[] {1}, 1),
                        "qkv_proj", table(new double[] {5}, 1),
                        "embedding", table(new double[] {7}, 1)),
                attention.build(),
                Map.of("lm_head", table(new double[] {9}, 1)),
                experts);
    }

    private static KernelTable table(double[] micros, int... keys) {
        var builder = new KernelTable.Builder();
        for (int i = 0; i < keys.length; i++) {
            builder.add(micros[i], keys[i]);
        }
        return builder.build();
    }

    private static double attentionMicros(LatencyModel model, BatchShape batch) {
        return model.explain(batch).get(1).nanos() / 1e3;
    }

    private static double linearMicros(LatencyModel model, BatchShape batch) {
        return model.explain(batch).get(0).nanos() / 1e3;
    }
}

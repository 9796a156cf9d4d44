package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class LatencyModelTest {

    static Stream<LatencyModel> models() {
        return Stream.of(
                new LinearLatency(6.5e6, 23e3, 10e3, 46),
                new LinearLatency(0, 0, 0, 0),
                new ProfileLatency(6.5e6, 23e3, 46, 0.9, 10),
                new ProfileLatency(0, 0, 0, 0, 0),
                new RooflineLatency(
                        RooflineFixture.dense(),
                        RooflineFixture.GPU,
                        Parallelism.ofTensors(1),
                        2,
                        new HostOverhead(1000, 10)),
                new RooflineLatency(
                        RooflineFixture.experts(),
                        RooflineFixture.GPU,
                        Parallelism.ofTensors(2),
                        2,
                        RooflineFixture.NO_HOST));
    }

    @ParameterizedTest
    @MethodSource("models")
    void everyStep_movesTheClock(LatencyModel model) {
        assertThat(model.stepNanos(batch(1, 1))).isPositive();
        assertThat(model.stepNanos(new BatchShape.Builder().build())).isPositive();
    }

    @ParameterizedTest
    @MethodSource("models")
    void moreWork_neverTakesLess(LatencyModel model) {
        assertThat(model.stepNanos(batch(2, 500))).isGreaterThanOrEqualTo(model.stepNanos(batch(1, 500)));
        assertThat(model.stepNanos(batch(2, 900))).isGreaterThanOrEqualTo(model.stepNanos(batch(2, 500)));
    }

    @ParameterizedTest
    @MethodSource("models")
    void parts_addUpToTheStep(LatencyModel model) {
        var batch = batch(3, 700);
        double sum = model.explain(batch).stream().mapToDouble(Share::nanos).sum();

        assertThat(model.stepNanos(batch)).isEqualTo(Math.max(1, Math.round(sum)));
    }

    @Test
    void linear_isTheSumOfItsTerms() {
        var model = new LinearLatency(1_000_000, 100, 10, 0.5);
        var batch = new BatchShape.Builder();
        batch.add(1, 99, true);
        batch.add(1, 199, true);
        batch.add(30, 70, false);

        // 2 decodes attend to 100 + 200 tokens; 32 new tokens in all: 1,000,000 + 3,200 + 20 + 150.
        assertThat(model.stepNanos(batch.build())).isEqualTo(1_003_370);
    }

    @Test
    void profile_joinsPlateauAndSlope() {
        var model = new ProfileLatency(3_000, 40, 2, 0.1, 5);

        // 100 new tokens: sqrt(3000^2 + 4000^2) = 5000. Attention pairs: 100 * 50 + 100^2 / 2 = 10,000, times 0.1.
        var prefill = new BatchShape.Builder();
        prefill.add(100, 50, true);
        assertThat(model.stepNanos(prefill.build())).isEqualTo(6_000);

        // One decode over 1000 tokens: sqrt(3000^2 + 40^2) = 3000.27, and 2000 for the KV cache.
        assertThat(model.stepNanos(batch(1, 999))).isEqualTo(5_000);

        // Together 101 new tokens: sqrt(3000^2 + 4040^2) = 5032.06; 1000 for pairs, 1000 * (2 + 5) for the KV cache.
        prefill.add(1, 999, true);
        assertThat(model.stepNanos(prefill.build())).isEqualTo(13_032);
    }

    @Test
    void shape_countsWhatItWasGiven() {
        var builder = new BatchShape.Builder();
        builder.add(1, 10, true);
        builder.add(20, 30, false);
        builder.add(5, 0, true);
        var batch = builder.build();
        builder.clear();

        assertThat(batch.numDecodes()).isEqualTo(1);
        assertThat(batch.decodeKvTokens()).as("10 cached ones and the new one").isEqualTo(11);
        assertThat(batch.numChunks()).isEqualTo(2);
        assertThat(batch.chunkTokens(0)).isEqualTo(20);
        assertThat(batch.chunkContextTokens(0)).isEqualTo(30);
        assertThat(batch.numPrefillTokens()).isEqualTo(25);
        assertThat(batch.numTokens()).isEqualTo(26);
        assertThat(batch.numSequences()).isEqualTo(3);
        assertThat(batch.numSampled()).isEqualTo(2);
        assertThat(builder.build().numSequences()).isZero();
    }

    @Test
    void verification_readsItsContextOnceForAllDrafts() {
        var builder = new BatchShape.Builder();
        builder.addVerification(3, 10);
        builder.add(1, 20, true);
        var batch = builder.build();
        builder.clear();

        assertThat(batch.numDecodes()).isEqualTo(2);
        assertThat(batch.numDraftTokens()).isEqualTo(3);
        assertThat(batch.numTokens()).as("2 and the drafts").isEqualTo(5);
        assertThat(batch.decodeKvTokens()).as("10 + 1 + 3 and 20 + 1").isEqualTo(35);
        assertThat(batch.numSampled()).as("1 + 3 and 1").isEqualTo(5);
        assertThat(batch.numSequences()).isEqualTo(2);
        assertThat(builder.build().numTokens()).isZero();
    }

    @Test
    void drafts_takeTheirTimeWhereASequenceSamples() {
        var model = new DraftingLatency(new LinearLatency(1_000, 10, 0, 0), 300);
        var chunk = new BatchShape.Builder();
        chunk.add(20, 0, false);

        // 1000 + 2 * 10 + 300, and 1000 + 20 * 10.
        assertThat(model.stepNanos(batch(2, 0))).isEqualTo(1_320);
        assertThat(model.stepNanos(chunk.build())).isEqualTo(1_200);
        assertThat(model.explain(batch(2, 0))).contains(new Share("drafts", 300));
    }

    private static BatchShape batch(int numDecodes, int contextTokens) {
        var builder = new BatchShape.Builder();
        for (int i = 0; i < numDecodes; i++) {
            builder.add(1, contextTokens, true);
        }
        return builder.build();
    }
}

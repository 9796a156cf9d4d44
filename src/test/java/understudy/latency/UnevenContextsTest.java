package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

final class UnevenContextsTest {
    /** 16 sequences keep 128 multiprocessors busy; a thread block reads a token in 0.07 us. */
    private static final UnevenContexts UNEVEN = new UnevenContexts(0.07, 16);

    @Test
    void longDecodes_leaveMultiprocessorsIdle() {
        // One of 5,000 among 1,000 is read alone for 4,000 tokens, by 1 of 16; 32 decodes are one round.
        assertThat(UNEVEN.micros(decodes(31))).isCloseTo(0.07 * 4000 * 15 / 16, within(1e-9));
    }

    @Test
    void fewDecodes_areSplit() {
        // 25 decodes are less than 0.8 of the 32 that run at once; beside a chunk nothing is split.
        assertThat(UNEVEN.micros(decodes(24))).isZero();

        var batch = builder(24);
        batch.add(100, 0, true);
        assertThat(UNEVEN.micros(batch.build())).isCloseTo(0.07 * 4000 * 15 / 16, within(1e-9));
    }

    @Test
    void manyDecodes_hideTheLongest() {
        // 128 / 32 = 4 rounds: 2.4 / 4 of it.
        assertThat(UNEVEN.micros(decodes(127))).isCloseTo(0.07 * 4000 * 15 / 16 * 0.6, within(1e-9));
    }

    @Test
    void decodes_endByPowersOfTwo() {
        var batch = new BatchShape.Builder();
        for (int context : List.of(9, 1999, 4999, 7999)) {
            batch.add(1, context, true);
        }

        // 5,000 and 8,000 lie between 4,096 and 8,191: two for 6,500 - 2,000, three down to 10; a reader more than
        // that.
        assertThat(batch.build().idleDecodeKvTokens(4)).isCloseTo(0.5 * 4500 + 0.25 * 1990, within(1e-9));
        // Two readers are always busy.
        assertThat(batch.build().idleDecodeKvTokens(2)).isZero();
    }

    @Test
    void readingRate_isThatOfOneMultiprocessor() {
        var gpu = RooflineFixture.gpu(0, 0, 4, 0);

        // One KV head of 5 elements, keys and values of two bytes: 20 bytes at three times 1000 / 4 bytes per us.
        assertThat(UnevenContexts.of(RooflineFixture.dense(), gpu, 1, 2)).isEqualTo(new UnevenContexts(0.08 / 3, 4));
        assertThat(UnevenContexts.of(RooflineFixture.dense(), null, 1, 2)).isEqualTo(UnevenContexts.NONE);
    }

    @Test
    void roofline_countsThemWithAttention() {
        double micros = RooflineFixture.part(
                "attention",
                RooflineFixture.dense(),
                RooflineFixture.gpu(0, 0, 4, 0),
                Parallelism.ofTensors(1),
                decodes(7));

        // 12,000 tokens of 20 bytes: 240 us. 4,000 of them alone, with 3 of 4 readers idle, at 0.08 / 3 us; 8 decodes
        // are a round.
        assertThat(micros).isCloseTo(240 + 4000 * 0.75 * 0.08 / 3, within(1e-6));
    }

    private static BatchShape decodes(int numShort) {
        return builder(numShort).build();
    }

    private static BatchShape.Builder builder(int numShort) {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < numShort; i++) {
            batch.add(1, 999, true);
        }
        batch.add(1, 4999, true);
        return batch;
    }
}

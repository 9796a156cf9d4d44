package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A step has room for 1,024 tokens. */
final class LongPrefillCapTest {
    private final EngineFixture engine = new EngineFixture();

    @BeforeEach
    void setUp() {
        engine.maxNumBatchedTokens = 1024;
    }

    /** The budget alone cuts the first 1,024 of 1,500 tokens; beside another request the cap is 400 again, for both. */
    @Test
    void loneRequest_mayBeSpared() {
        engine.longPrefills = new LongPrefillCap(400, true, false);
        engine.add(0, 1500);

        assertThat(engine.step()).containsExactly(entry(0L, 1024));
        engine.add(1, 800);
        assertThat(engine.step()).containsExactly(entry(0L, 400), entry(1L, 400));
        assertThat(engine.step()).containsExactly(entry(0L, 76), entry(1L, 400));
    }

    @Test
    void loneRequest_isCappedOtherwise() {
        engine.longPrefills = LongPrefillCap.of(400);
        engine.add(0, 1500);

        assertThat(engine.step()).containsExactly(entry(0L, 400));
    }

    /** One may run; a second one that waits counts, too: the cap holds. */
    @Test
    void requestBesideOneThatWaits_isNotAlone() {
        engine.longPrefills = new LongPrefillCap(400, true, false);
        engine.maxNumSeqs = 1;
        engine.add(0, 1500);
        engine.add(1, 10);

        assertThat(engine.step()).containsExactly(entry(0L, 400));
        assertThat(engine.step()).containsExactly(entry(0L, 400));
    }

    /** 1,024 by 3 requests are 341 for each, more than 100; the one that decodes takes 1, and the others share by 3, too. */
    @Test
    void adaptiveCap_isAnEqualPartOfTheBudget() {
        engine.longPrefills = new LongPrefillCap(100, false, true);
        engine.add(0, 800);
        engine.add(1, 800);
        engine.add(2, 10);

        assertThat(engine.step()).containsExactly(entry(0L, 341), entry(1L, 341), entry(2L, 10));
        assertThat(engine.step()).containsExactly(entry(0L, 341), entry(1L, 341), entry(2L, 1));
        // 800 - 2 x 341 = 118.
        assertThat(engine.step()).containsExactly(entry(0L, 118), entry(1L, 118), entry(2L, 1));
    }

    /** 1,024 by 16 requests are 64, less than 100: ten get 100 each, and one what is left. */
    @Test
    void adaptiveCap_isNeverLessThanTheThreshold() {
        engine.longPrefills = new LongPrefillCap(100, false, true);
        for (int id = 0; id < 16; id++) {
            engine.add(id, 300);
        }

        assertThat(engine.step()).hasSize(11).containsEntry(0L, 100).containsEntry(10L, 24);
    }

    @Test
    void withoutAThreshold_thereIsNoCap() {
        assertThat(new LongPrefillCap(0, true, true).tokens(5, 1000)).isZero();
    }
}

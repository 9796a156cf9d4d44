package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;

/** One step in three computes prompts: steps 0, 3, 6; a step has room for 1,024 tokens. */
final class PrefillThrottleTest {
    private final EngineFixture engine = new EngineFixture();

    @BeforeEach
    void setUp() {
        engine.prefillScheduleInterval = 3;
        engine.maxNumBatchedTokens = 1024;
    }

    @Test
    void promptThatArrivesWhileSomethingDecodes_waitsForTheNextStepOfPrompts() {
        engine.add(0, 10);
        engine.step();
        engine.add(1, 20);

        assertThat(engine.step()).containsExactly(entry(0L, 1));
        assertThat(engine.step()).containsExactly(entry(0L, 1));
        assertThat(engine.step()).containsExactly(entry(0L, 1), entry(1L, 20));
    }

    /** Of 1,500 tokens the first 1,023 are computed beside a decode; the other 477 are put off, too. */
    @Test
    void restOfAPrompt_waits() {
        engine.add(0, 10);
        engine.step();
        engine.add(1, 1_500);
        engine.step();
        engine.step();

        assertThat(engine.step()).containsExactly(entry(0L, 1), entry(1L, 1_023));
        assertThat(engine.step()).containsExactly(entry(0L, 1));
        assertThat(engine.step()).containsExactly(entry(0L, 1));
        assertThat(engine.step()).containsExactly(entry(0L, 1), entry(1L, 477));
    }

    @Test
    void whileNothingDecodes_nothingIsPutOff() {
        engine.add(0, 1_500);

        assertThat(engine.step()).containsExactly(entry(0L, 1_024));
        assertThat(engine.step()).containsExactly(entry(0L, 476));
    }

    /** Two run at most; the third gets its place in step 2, since step 0 left it waiting. */
    @Test
    void stepOfPromptsThatLeavesSomeWaiting_liftsTheLimit() {
        engine.maxNumSeqs = 2;
        engine.add(0, 10, 2, 0);
        engine.add(1, 10);
        engine.add(2, 10);

        assertThat(engine.step()).containsExactly(entry(0L, 10), entry(1L, 10));
        assertThat(engine.step()).containsExactly(entry(0L, 1), entry(1L, 1));
        assertThat(engine.step()).containsExactly(entry(1L, 1), entry(2L, 10));
    }

    /** Of 33 tokens, two blocks of 16 are found: what is left is no more than a decode. */
    @Test
    void promptFoundButForItsLastToken_doesNotWait() {
        engine.caches = true;
        engine.add(EngineFixture.request(0, EngineFixture.filled(33, 7), 16, 0, OutputPlan.ENDLESS));
        engine.step();
        engine.add(EngineFixture.request(1, EngineFixture.filled(33, 7), 16, 0, OutputPlan.ENDLESS));

        assertThat(engine.step()).containsExactly(entry(0L, 1), entry(1L, 1));
    }

    /** Steps are counted anew from when nothing runs: the second request is computed in step 0 again. */
    @Test
    void stepsCountFromWhenNothingRan() {
        engine.add(0, 10, 2, 0);
        engine.step();
        engine.step();
        engine.add(1, 10);
        engine.step();
        engine.add(2, 10);

        assertThat(engine.step()).containsExactly(entry(1L, 1));
        assertThat(engine.step()).containsExactly(entry(1L, 1));
        assertThat(engine.step()).containsExactly(entry(1L, 1), entry(2L, 10));
    }
}

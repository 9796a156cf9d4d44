package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import it.unimi.dsi.fastutil.ints.IntSets;
import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;
import understudy.engine.SamplingParams;

/** What cached blocks spare a step; scenarios follow vLLM's own tests of its scheduler, with blocks of 16 tokens. */
final class PlannedCacheHitsTest {
    private final EngineFixture engine = new EngineFixture();

    @Test
    void sameStep_laterRequestHitsTheBlocksOfAnEarlierOne() {
        engine.caches = true;
        engine.add(EngineFixture.request(0, EngineFixture.filled(100, 9), 3, 0, OutputPlan.ENDLESS));
        engine.add(EngineFixture.request(1, EngineFixture.filled(100, 9), 3, 0, OutputPlan.ENDLESS));

        // 100 tokens are 6 full blocks, 96 tokens; 4 are left to compute.
        assertThat(engine.step()).containsExactly(entry(0L, 100), entry(1L, 4));
        engine.step();
        engine.step();

        // A next turn: 100 prompt tokens, the 3 of the answer, and new ones up to 300. Computed were 100 + 3 - 1 = 102
        // tokens, 6 full blocks: 300 - 96 = 204 are left.
        var next = EngineFixture.filled(300, 9);
        for (int i = 0; i < 3; i++) {
            next[100 + i] = i;
        }
        engine.add(EngineFixture.request(2, next, 3, 0, OutputPlan.ENDLESS));
        assertThat(engine.step()).containsExactly(entry(2L, 204));
    }

    @Test
    void nextTurn_computesWhatIsNotAFullBlock() {
        engine.caches = true;
        engine.add(EngineFixture.request(0, EngineFixture.filled(100, 9), 189, 0, OutputPlan.ENDLESS));
        for (int i = 0; i < 189; i++) {
            engine.step();
        }

        // 100 + 189 - 1 = 288 tokens were computed, 18 full blocks. Of 300 tokens that begin alike, 300 % 16 = 12 are
        // left.
        var next = EngineFixture.filled(300, 9);
        for (int i = 0; i < 189; i++) {
            next[100 + i] = i;
        }
        engine.add(EngineFixture.request(1, next, 1, 0, OutputPlan.ENDLESS));
        assertThat(engine.step()).containsExactly(entry(1L, 12));
    }

    @Test
    void requestThatMayNotReadTheCache_computesItsWholePrompt() {
        engine.caches = true;
        var prompt = EngineFixture.filled(100, 9);
        engine.add(EngineFixture.request(0, prompt, 3, 0, OutputPlan.ENDLESS));
        engine.add(EngineFixture.with(
                new SamplingParams(3, 0, false, IntSets.EMPTY_SET, true),
                EngineFixture.request(1, prompt, 3, 0, OutputPlan.ENDLESS)));

        assertThat(engine.step()).containsExactly(entry(0L, 100), entry(1L, 100));
    }

    @Test
    void refusedRequest_countsItsLookupOnceItIsAdmitted() {
        engine.caches = true;
        engine.numBlocks = 11;
        engine.add(0, 100, 2, 0);
        engine.step();
        engine.add(1, 100, 1, 0);

        // 7 of 10 blocks are in use, 7 are needed: refused twice, admitted when request 0 is done.
        engine.step();
        assertThat(engine.kvCache().stats().queries()).isEqualTo(100);
        assertThat(engine.step()).containsExactly(entry(1L, 100));
        assertThat(engine.kvCache().stats().queries()).isEqualTo(200);
    }

    @Test
    void resetOfWhatRuns_preemptsAllAndKeepsTheOrder() {
        engine.caches = true;
        for (int id = 0; id < 3; id++) {
            engine.add(id, 50);
        }
        engine.step();
        engine.add(3, 50);
        assertThat(engine.resetPrefixCache(false)).as("blocks are in use").isFalse();

        assertThat(engine.resetPrefixCache(true)).isTrue();

        assertThat(engine.planner().requests().numRunning()).isZero();
        assertThat(engine.kvCache().audit().numHashed()).isZero();
        // 50 prompt tokens and one of the answer are computed again, by the same requests in the same order.
        assertThat(engine.step()).containsExactly(entry(0L, 51), entry(1L, 51), entry(2L, 51), entry(3L, 50));
    }
}

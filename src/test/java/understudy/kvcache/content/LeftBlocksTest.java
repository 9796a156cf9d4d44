package understudy.kvcache.content;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import understudy.kvcache.KvBlocks;
import understudy.prompt.Xxh3BlockHasher;

class LeftBlocksTest {
    private final BlockPool pool =
            new BlockPool(ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(16), 10)), new KvEventLog(false));
    private final LeftBlocks left = new LeftBlocks(pool, true);

    /** The blocks were scheduled last in step 1 of the three in flight: vLLM's fence is the newest one, step 3. */
    @Test
    void blocksInFlight_areFreeAfterTheNewestStep() {
        for (int step = 1; step <= 3; step++) {
            left.onStepPlanned(step);
        }
        left.free(new int[] {pool.take(), pool.take()}, 1);

        for (int step = 1; step <= 2; step++) {
            left.onStepDone(step);
            assertThat(left.numDeferredBlocks()).as("after step %d", step).isEqualTo(2);
        }
        left.onStepDone(3);
        assertThat(left.numDeferredBlocks()).isZero();
        assertThat(pool.numFree()).as("all but the null block").isEqualTo(9);
    }

    @Test
    void blocksOfAStepThatIsOver_areFreeAtOnce() {
        left.onStepPlanned(1);
        left.onStepDone(1);
        left.onStepPlanned(2);

        left.free(new int[] {pool.take()}, 1);

        assertThat(left.numDeferredBlocks()).isZero();
    }
}

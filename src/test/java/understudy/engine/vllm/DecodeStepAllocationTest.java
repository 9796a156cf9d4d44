package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** A step in which every sequence decodes and none needs a block makes no garbage that grows with their number. */
final class DecodeStepAllocationTest {
    private static final int SEQUENCES = 2_000;
    private static final int STEPS = 8;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final EngineFixture engine = new EngineFixture();

    @Test
    void decodeStep_allocatesNothingPerSequence() {
        assumeTrue(threads.isThreadAllocatedMemorySupported(), "skipped: this JVM does not count allocations");
        engine.maxNumSeqs = SEQUENCES;
        engine.maxNumBatchedTokens = SEQUENCES * 400;
        engine.numBlocks = 100_000;
        engine.caches = true;
        for (int id = 0; id < SEQUENCES; id++) {
            engine.add(id, 385, 100, 0);
        }
        // 385 tokens are 24 blocks and 1 token; the steps below end at 385 + 2 + 8 tokens, within the 25th.
        engine.update(engine.plan());
        engine.update(engine.plan());
        engine.update(engine.plan());

        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < STEPS; i++) {
            engine.update(engine.plan());
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        // The smallest object has 16 bytes: one per sequence and step would be 256,000.
        assertThat(allocated).isLessThan(16L * SEQUENCES);
    }
}

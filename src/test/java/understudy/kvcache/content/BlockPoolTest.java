package understudy.kvcache.content;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import understudy.kvcache.KvBlocks;
import understudy.prompt.Xxh3BlockHasher;

final class BlockPoolTest {

    /** A thousand of a million blocks are given out, by number, and the last of them again, since it holds nothing. */
    @Test
    void memory_isTakenForBlocksThatWereUsed() {
        var pool = new BlockPool(
                ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(1), 1_000_001)), new KvEventLog(false));
        for (int block = 1; block <= 1_000; block++) {
            assertThat(pool.take()).isEqualTo(block);
        }
        pool.release(1_000);

        assertThat(pool.take()).isEqualTo(1_000);
        assertThat(pool.take()).isEqualTo(1_001);
        assertThat(pool.prefixTable().capacity()).isBetween(1_002, 2_048);
        assertThat(pool.numFree()).isEqualTo(1_000_000 - 1_001);
        assertThat(pool.freeOrder()).hasSize(1_000_000 - 1_001).startsWith(1_002, 1_003);
    }
}

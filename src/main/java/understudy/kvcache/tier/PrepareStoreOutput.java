package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;

/** Answer of a tier to a request to store chunks (vLLM {@code PrepareStoreOutput}). */
public sealed interface PrepareStoreOutput {

    /**
     * Chunks to write, and those that were evicted to make room; all lists are empty if no chunk was new.
     *
     * @param keys keys of the chunks to write, in the order asked for
     * @param blocks tier block of each of {@code keys}
     * @param evictedKeys keys of the chunks that are gone, in the order in which they went
     * @param evictedBlocks tier block that each of {@code evictedKeys} had
     */
    record Prepared(LongList keys, IntList blocks, LongList evictedKeys, IntList evictedBlocks)
            implements PrepareStoreOutput {}

    /**
     * Nothing was stored or evicted, since transfers use too much of the tier.
     *
     * @param numBlocks tier blocks that the store would have taken
     */
    record Refused(int numBlocks) implements PrepareStoreOutput {}
}

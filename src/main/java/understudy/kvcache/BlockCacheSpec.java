package understudy.kvcache;

import understudy.prompt.BlockHasher;

/** Settings of a memory that gives out blocks in answer to {@link KvAsk}s: those of all such memories, and its own. */
public interface BlockCacheSpec extends KvCacheSpec {

    /** Returns sizes and switches that every such memory has. */
    KvBlocks blocks();

    /** Creates the empty memory. */
    KvCache create();

    /**
     * Returns whether content can be found as soon as there are blocks for it, by later requests of the step that
     * computes it, as in vLLM; else it is found only after that step's result.
     */
    boolean sharesWithinStep();

    /**
     * Returns by how many tokens a request may grow before it must ask the memory again: the size of a block, or 1
     * where blocks are given back on the way.
     */
    default int growthUnit() {
        return blockSize();
    }

    @Override
    default BlockHasher hasher() {
        return blocks().hasher();
    }

    @Override
    default int numGpuBlocks() {
        return blocks().numGpuBlocks();
    }

    @Override
    default int maxModelLen() {
        return blocks().maxModelLen();
    }

    @Override
    default boolean enablePrefixCaching() {
        return blocks().enablePrefixCaching();
    }

    @Override
    default boolean recordsEvents() {
        return blocks().recordsEvents();
    }
}

package understudy.kvcache.content;

import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.eviction.FreeBlocks;

/** Settings of a memory whose blocks come from one {@link BlockPool}. */
public interface PoolConfig extends BlockCacheSpec {

    /** Returns which free block is given out next. */
    FreeBlocks freeBlocks();
}

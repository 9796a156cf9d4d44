package understudy.kvcache.radix;

import understudy.kvcache.KvCacheSpec;
import understudy.prompt.BlockHasher;

/**
 * SGLang's memory with its settings, as others need to know them: its blocks are pages.
 *
 * @param radix its own settings
 * @param maxModelLen longest sequence in tokens
 * @param hasher of the blocks of which its events tell
 * @param recordsEvents whether changes of what is cached are told
 */
public record RadixSpec(RadixConfig radix, int maxModelLen, BlockHasher hasher, boolean recordsEvents)
        implements KvCacheSpec {

    /** Returns the same memory, whose events tell of such blocks. */
    public RadixSpec withHasher(BlockHasher newHasher) {
        return new RadixSpec(radix, maxModelLen, newHasher, recordsEvents);
    }

    @Override
    public int numGpuBlocks() {
        return radix.maxTotalTokens() / radix.pageSize() + 1;
    }

    @Override
    public int blockSize() {
        return radix.pageSize();
    }

    @Override
    public boolean enablePrefixCaching() {
        return !radix.disableRadixCache();
    }

    /** Returns what is left of the pool without the page that SGLang keeps, and the token that it does not give out. */
    @Override
    public long maxTokens() {
        return radix.maxTotalTokens() / radix.pageSize() * (long) radix.pageSize() - radix.pageSize() - 1;
    }

    @Override
    public boolean tellsOfAnyBlocks() {
        return true;
    }

    @Override
    public boolean publishesEvents() {
        return radix.window() == null && radix.hierarchy() == null;
    }
}

package understudy.kvcache.radix;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.connector.KvSource;
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

    /**
     * Returns what is left of the pool without the page that SGLang keeps, and the token that it does not give out; of the
     * smaller one where a prefill needs places for all of a prompt in both; and without the places of drafts.
     */
    @Override
    public long maxTokens() {
        boolean leavesWindow = radix.chunksPrefill() && !radix.disableRadixCache();
        int numTokens = radix.window() == null || leavesWindow ? radix.maxTotalTokens() : radix.windowTokens();
        int numForDrafts = radix.eagleReserve() == 0 ? 0 : radix.eagleReserve() + radix.pageSize();
        return numTokens / radix.pageSize() * (long) radix.pageSize() - radix.pageSize() - 1 - numForDrafts;
    }

    @Override
    public String groupsReason() {
        var window = radix.window();
        return window == null
                ? ""
                : "layers with a window of " + window.size() + " tokens have a pool of their own, of "
                        + radix.windowTokens() + " tokens";
    }

    @Override
    public boolean isPushed() {
        return true;
    }

    @Override
    public @Nullable KvSource storage() {
        var hierarchy = radix.hierarchy();
        return hierarchy == null || hierarchy.storage() == null
                ? null
                : hierarchy.storage().source();
    }

    @Override
    public boolean tellsOfAnyBlocks() {
        return true;
    }

    @Override
    public boolean publishesEvents() {
        return true;
    }
}

package understudy.kvcache.radix;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.KvSource;
import understudy.transfer.PortGroup;

/**
 * Settings of SGLang's memory, under its names.
 *
 * @param maxTotalTokens tokens of the pool ({@code max_total_tokens})
 * @param disableRadixCache whether nothing is shared ({@code disable_radix_cache})
 * @param chunksPrefill whether prefills are cut; says which cache stands in for the tree
 * @param evictionPolicy order of eviction ({@code radix_eviction_policy})
 * @param eagleReserve places that a request has beyond its committed ones when it verifies drafts, or 0 without a draft
 *     model
 * @param needSort whether freed pages wait to be sorted, as in the roles of disaggregation
 * @param window sliding window of some layers, or null if there is none
 * @param hierarchy copies on the host (HiCache), or null if there are none
 */
public record RadixConfig(
        int pageSize,
        int maxTotalTokens,
        boolean disableRadixCache,
        boolean chunksPrefill,
        RadixEvictionPolicy evictionPolicy,
        int eagleReserve,
        boolean needSort,
        @Nullable Window window,
        @Nullable Hierarchy hierarchy) {

    /**
     * Returns the places that a request has beyond its committed ones when it verifies drafts: twice what one verification
     * may take ({@code speculative/eagle_info_v2.py}).
     */
    public static int eagleReserve(int pageSize, int numSteps, int topk, int numDraftTokens) {
        int each = pageSize == 1 || topk == 1
                ? numSteps * topk
                : (2 * (pageSize - 1) + numSteps) / pageSize * pageSize * topk;
        return 2 * Math.max(each, numDraftTokens);
    }

    /** Returns the memory of an engine in a role: freed pages are sorted, and one that decodes has no tree. */
    public RadixConfig inRole(boolean isPrefill) {
        return new RadixConfig(
                pageSize,
                maxTotalTokens,
                disableRadixCache || !isPrefill,
                chunksPrefill,
                evictionPolicy,
                eagleReserve,
                true,
                window,
                hierarchy);
    }

    /**
     * Sliding window of some layers, which have a pool of their own.
     *
     * @param size tokens of the window
     * @param fullTokensRatio size of the window's pool by that of the full one ({@code swa_full_tokens_ratio})
     */
    public record Window(int size, double fullTokensRatio) {}

    /** Returns whether there is a storage behind the host. */
    public boolean hasStorage() {
        return hierarchy != null && hierarchy.storage() != null;
    }

    /** Returns the tokens of the pool of layers with a window, in whole pages; 0 if there are none. */
    public int windowTokens() {
        return window == null ? 0 : (int) (maxTotalTokens * window.fullTokensRatio) / pageSize * pageSize;
    }

    /**
     * Copies of nodes on the host. In a recording a copy lasts a number of turns; in a run it lasts as long as its bytes take
     * over a link.
     *
     * @param hostTokens size of the host's pool in tokens, for which there are whole pages and one more
     * @param writeTurns turns of the scheduler after which a copy to the host is acknowledged
     * @param loadTurns turns after which a copy from the host is acknowledged
     * @param link between device and host, or null if time is counted in turns
     * @param storage behind the host, or null if there is none
     */
    public record Hierarchy(
            int hostTokens,
            WritePolicy writePolicy,
            int writeTurns,
            int loadTurns,
            @Nullable HostLinkSpec link,
            @Nullable Storage storage) {}

    /**
     * Storage behind the host ({@code hicache_storage_backend}).
     *
     * @param source which memory it is
     * @param policy when a request stops waiting for what it fetches
     * @param prefetchThreshold fewest tokens that are fetched
     * @param timeoutBaseNanos how long a request waits with the policy timeout, besides
     * @param timeoutPerKiTokenNanos for each 1024 tokens that the storage has
     */
    public record Storage(
            KvSource source,
            PrefetchPolicy policy,
            int prefetchThreshold,
            long timeoutBaseNanos,
            long timeoutPerKiTokenNanos) {}

    /** When a request stops waiting for what it fetches from the storage ({@code hicache_storage_prefetch_policy}). */
    public enum PrefetchPolicy {
        /** As soon as it could be prefilled. */
        BEST_EFFORT,
        /** When all has come. */
        WAIT_COMPLETE,
        /** When all has come, or it is too late. */
        TIMEOUT
    }

    /**
     * Link of each GPU to the host.
     *
     * @param ports its ways: to the GPU, and from it
     * @param bytesPerToken KV of a token on one GPU
     */
    public record HostLinkSpec(PortGroup ports, double bytesPerToken) {}

    /** When a node is copied to the host ({@code hicache_write_policy}). */
    public enum WritePolicy {
        /** At the first hit. */
        WRITE_THROUGH,
        /** At the second hit. */
        WRITE_THROUGH_SELECTIVE,
        /** When it is evicted from the device. */
        WRITE_BACK
    }
}

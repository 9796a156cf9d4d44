package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongList;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.PrefixCacheStats;

/** What a replica says of itself while it serves, to those who ask for it. Counts are since the start. */
public sealed interface EngineStats {

    int replicaIndex();

    /**
     * Told after each step, and whenever the load has changed (vLLM {@code SchedulerStats} and {@code IterationStats}).
     *
     * @param numRunning requests in the running list
     * @param numWaiting requests in the waiting queues
     * @param numRequests requests that the replica was given
     * @param numPreemptions how often a request lost its blocks
     * @param iteration what the step has brought; nothing if there was none
     */
    record SchedulerStats(
            int replicaIndex,
            int numRunning,
            int numWaiting,
            long numRequests,
            long numPreemptions,
            IterationStats iteration)
            implements EngineStats {}

    /**
     * Told after each step.
     *
     * @param usage share of blocks that are referenced, 0 to 1
     * @param blocks used and cached
     * @param prefixCache lookups
     */
    record CacheStats(int replicaIndex, double usage, KvBlockCounts blocks, PrefixCacheStats prefixCache)
            implements EngineStats {}

    /**
     * What came of a step.
     *
     * @param numGenerationTokens output tokens of all requests
     * @param ttftNanos for each request that got its first token, the virtual time from its arrival
     * @param numPromptTokens tokens of the prompts of these
     * @param numCachedTokens how many of these were found in the cache
     */
    record IterationStats(int numGenerationTokens, LongList ttftNanos, long numPromptTokens, long numCachedTokens) {
        /** No step. */
        static final IterationStats NONE = new IterationStats(0, LongList.of(), 0, 0);
    }
}

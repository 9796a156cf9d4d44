package understudy.replay;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.ints.IntList;
import org.jspecify.annotations.Nullable;

/**
 * Result of a replay.
 *
 * @param policy rule of eviction
 * @param capacityBlocks blocks in the cache; {@link ReplaySettings#UNBOUNDED} where nothing was evicted
 * @param blockSize tokens per block
 * @param totalRequests requests replayed
 * @param totalPromptTokens tokens of their prompts
 * @param totalHitTokens tokens of their prompts that lay in resident blocks from the start on, without a gap
 * @param finalCacheBlocks resident blocks after the last request; ghosts do not count
 * @param blockAccesses blocks accessed
 * @param blockHits blocks that were resident when they were accessed, behind a gap or not
 * @param perRequestHitTokens hit tokens of each request in the order of the trace, if they were kept
 */
@RecordBuilder
public record ReplayResult(
        ReplayPolicy policy,
        int capacityBlocks,
        int blockSize,
        int totalRequests,
        long totalPromptTokens,
        long totalHitTokens,
        int finalCacheBlocks,
        long blockAccesses,
        long blockHits,
        @Nullable IntList perRequestHitTokens) {

    /** Returns the share of prompt tokens that were hit, from 0 to 1; 0 when there were none. */
    public double overallHitRate() {
        return totalPromptTokens == 0 ? 0 : (double) totalHitTokens / totalPromptTokens;
    }
}

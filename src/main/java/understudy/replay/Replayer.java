package understudy.replay;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import org.jspecify.annotations.Nullable;
import understudy.replay.cache.BlockCache;

/**
 * Replays a trace against one cache: what part of each prompt was resident when it arrived. Give it the chunks of the
 * trace in order, then take the result. Not thread safe; many replays may read the same chunks at the same time.
 *
 * <p>The rules are the same for all policies. On arrival, the prefix of the prompt that is resident without a gap is a
 * hit, {@code min(blocks x block size, prompt tokens)} tokens of it. Then all blocks of the prompt are accessed in
 * order. The request's own blocks are not pinned: a prompt longer than the cache can evict its own head.
 */
public final class Replayer {
    /** Block accesses, and requests, that a trace may have; an array has room for two links for each. */
    public static final int MAX_ACCESSES = (1 << 30) - 8;

    private final ReplaySettings settings;
    private final BlockCache cache;
    private int numBlocks;
    private int numReservedBlocks;
    private int totalRequests;
    private long totalPromptTokens;
    private long totalHitTokens;
    private long blockAccesses;
    private final @Nullable IntArrayList perRequestHitTokens;

    private Replayer(ReplaySettings settings, boolean keepPerRequest, BlockCache cache) {
        this.settings = settings;
        this.cache = cache;
        perRequestHitTokens = keepPerRequest ? new IntArrayList() : null;
    }

    /**
     * Creates a replay under a policy that does not know the future.
     *
     * @param keepPerRequest whether to keep each request's hit tokens
     */
    public static Replayer of(ReplaySettings settings, boolean keepPerRequest) {
        return new Replayer(settings, keepPerRequest, settings.policy().create(settings, null));
    }

    /**
     * Creates a replay under any policy.
     *
     * @param keepPerRequest whether to keep each request's hit tokens
     * @param nextUse the future of the very trace that is going to be replayed
     */
    public static Replayer of(ReplaySettings settings, boolean keepPerRequest, NextUse nextUse) {
        return new Replayer(settings, keepPerRequest, settings.policy().create(settings, nextUse));
    }

    /**
     * Replays the next requests of the trace.
     *
     * @throws IllegalArgumentException if the trace has more than 1,073,741,816 block accesses or requests
     */
    public void accept(TraceChunk chunk) {
        blockAccesses += chunk.blocks().length;
        if (blockAccesses > MAX_ACCESSES || (long) totalRequests + chunk.numRequests() > MAX_ACCESSES) {
            throw tooManyAccesses();
        }
        reserve(numBlocks(chunk));
        replay(chunk);
    }

    /** Returns the result so far. */
    public ReplayResult finish() {
        return ReplayResultBuilder.builder()
                .policy(settings.policy())
                .capacityBlocks(settings.capacityBlocks())
                .blockSize(settings.blockSize())
                .totalRequests(totalRequests)
                .totalPromptTokens(totalPromptTokens)
                .totalHitTokens(totalHitTokens)
                .finalCacheBlocks(cache.size())
                .blockAccesses(blockAccesses)
                .blockHits(cache.blockHits())
                .perRequestHitTokens(perRequestHitTokens == null ? null : perRequestHitTokens.clone())
                .build();
    }

    private void replay(TraceChunk chunk) {
        int[] blocks = chunk.blocks();
        int[] ends = chunk.ends();
        int[] promptTokens = chunk.promptTokens();
        int from = 0;
        for (int request = 0; request < chunk.numRequests(); request++) {
            int hitBlocks = cache.accessPrompt(blocks, from, ends[request]);
            from = ends[request];
            note(promptTokens[request], hitBlocks);
        }
    }

    private void note(int promptTokens, int hitBlocks) {
        // The last block of a prompt may be partial.
        int hitTokens = (int) Math.min((long) hitBlocks * settings.blockSize(), promptTokens);
        if (perRequestHitTokens != null) {
            perRequestHitTokens.add(hitTokens);
        }
        totalRequests++;
        totalPromptTokens += promptTokens;
        totalHitTokens += hitTokens;
    }

    /**
     * Makes room for blocks up to {@code newNumBlocks - 1}, by halves of what there is, but no more than needed at
     * first.
     */
    private void reserve(int newNumBlocks) {
        numBlocks = Math.max(numBlocks, newNumBlocks);
        if (numBlocks > numReservedBlocks) {
            numReservedBlocks = (int) Math.min(MAX_ACCESSES, Math.max(numBlocks, numReservedBlocks * 3L / 2));
            cache.reserve(numReservedBlocks);
        }
    }

    /** Returns one more than the greatest block id in a chunk. */
    static int numBlocks(TraceChunk chunk) {
        int max = -1;
        for (int block : chunk.blocks()) {
            max = Math.max(max, block);
        }
        return max + 1;
    }

    static IllegalArgumentException tooManyAccesses() {
        return new IllegalArgumentException(
                "a trace may have at most " + MAX_ACCESSES + " block accesses and requests");
    }
}

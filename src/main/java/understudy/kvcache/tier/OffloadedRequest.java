package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TransferJob;

/** Request of which chunks are stored and loaded. */
final class OffloadedRequest {
    /** Loads that may fail; vLLM, where a failed load ends the engine, has no such number. */
    private static final int MAX_FAILED_LOADS = 8;

    final ConnectedRequest request;

    /** Block table as of the last step in which the request was scheduled. */
    final IntArrayList blocks = new IntArrayList();

    final LongArrayList jobs = new LongArrayList();

    /** Chunks that were considered for storing. */
    int numConsidered;

    int numComputedTokens;
    int numLocalTokens;
    /** Whether slower memories were asked for chunks since the request began to wait. */
    boolean isPromoted;

    /** Tokens that the GPU and the host's memory had when these were asked, and which of these has given more. */
    private int numTokensHere;

    @Nullable KvSource promotedFrom;

    /** Loads that have failed. */
    int numFailedLoads;

    boolean isEnded;
    boolean isComplete;

    /** Whether the last chance to store its chunks is over. */
    boolean isOver;

    OffloadedRequest(ConnectedRequest request) {
        this.request = request;
    }

    /** Returns whether it computes by itself from now on, since a link that fails for good would fail each load anew. */
    boolean hasGivenUp() {
        return numFailedLoads >= MAX_FAILED_LOADS;
    }

    /** Returns a move between blocks of the GPU and of the host's memory. */
    TransferJob job(long job, TransferJob.Kind kind, IntList gpuBlocks, IntList hostBlocks, int blockSize) {
        int numTokens = gpuBlocks.size() * blockSize;
        return new TransferJob(job, kind, request.requestId(), numTokens, gpuBlocks, hostBlocks, -1);
    }

    /** Returns the keys of all chunks whose tokens are known. */
    LongArrayList keys(int blockSize, int blocksPerChunk) {
        int numChunks = request.numTokens() / blockSize / blocksPerChunk;
        var keys = new LongArrayList(numChunks);
        for (int i = 1; i <= numChunks; i++) {
            keys.add(request.hashOf(i * blocksPerChunk - 1));
        }
        return keys;
    }

    /**
     * Returns the blocks of those chunks that are stored.
     *
     * @param offered keys of the chunks from {@link #numConsidered} on
     */
    IntArrayList blocksOf(LongList offered, LongList stored, int blocksPerChunk) {
        var storedKeys = new LongOpenHashSet(stored);
        var found = new IntArrayList();
        for (int i = 0; i < offered.size(); i++) {
            if (storedKeys.contains(offered.getLong(i))) {
                int first = (numConsidered + i) * blocksPerChunk;
                found.addAll(blocks.subList(first, first + blocksPerChunk));
            }
        }
        return found;
    }

    void beginPromotion(int numTokensHere) {
        isPromoted = true;
        this.numTokensHere = numTokensHere;
        promotedFrom = null;
    }

    /** Returns a match with what was promoted apart from what the host's memory had before. */
    ExternalMatch withSource(ExternalMatch match) {
        int numHost = Math.max(0, numTokensHere - numLocalTokens);
        return promotedFrom == null || numHost >= match.numTokens()
                ? match
                : new ExternalMatch(match.numTokens(), match.isAsync(), numHost, promotedFrom);
    }

    /**
     * Returns how many leading chunks may be stored now (vLLM {@code RequestOffloadState.storable_chunks}).
     *
     * @param promptOnly whether chunks of the answer are never stored
     * @param dropsLast whether the last chunk has to wait while the request decodes, since drafters of the EAGLE family
     *     may write to it again after a rejection
     */
    int numChunksToStore(int chunkTokens, boolean promptOnly, boolean dropsLast) {
        int numTokens = numTokensToStore(promptOnly);
        int numChunks = numTokens / chunkTokens;
        return dropsLast && numTokens > request.numPromptTokens() ? Math.max(0, numChunks - 1) : numChunks;
    }

    private int numTokensToStore(boolean promptOnly) {
        int numComputed = isEnded && isComplete ? request.numTokens() : numComputedTokens;
        int numKnown = Math.min(numComputed, request.numTokens());
        return promptOnly ? Math.min(numKnown, request.numPromptTokens()) : numKnown;
    }
}

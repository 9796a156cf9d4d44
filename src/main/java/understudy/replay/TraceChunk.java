package understudy.replay;

/**
 * Consecutive requests of a trace. Block ids are dense: over the whole trace they count from 0 in the order in which
 * blocks first appear, so that a table of blocks is an array. A chunk never changes, so threads may share it; the
 * arrays are not copied, and they must not be written to.
 */
public final class TraceChunk {
    private final int numRequests;
    private final int[] blocks;
    private final int[] ends;
    private final int[] promptTokens;
    private final long[] timestampMillis;

    /**
     * Takes over the arrays.
     *
     * @param numRequests length of the last three arrays
     * @param blocks the blocks that the requests access, one request after the other, and nothing else
     * @param ends for each request, where its blocks end in {@code blocks}, exclusive; those of the next begin there
     * @param promptTokens for each request, the length of its prompt
     * @param timestampMillis for each request, when it arrives on the clock of the trace
     * @throws IllegalArgumentException if the lengths do not go together
     */
    public TraceChunk(int numRequests, int[] blocks, int[] ends, int[] promptTokens, long[] timestampMillis) {
        if (ends.length != numRequests
                || promptTokens.length != numRequests
                || timestampMillis.length != numRequests
                || blocks.length != (numRequests == 0 ? 0 : ends[numRequests - 1])) {
            throw new IllegalArgumentException(numRequests + " requests with " + blocks.length + " blocks, "
                    + ends.length + " ends, " + promptTokens.length + " lengths and " + timestampMillis.length
                    + " timestamps");
        }
        this.numRequests = numRequests;
        this.blocks = blocks;
        this.ends = ends;
        this.promptTokens = promptTokens;
        this.timestampMillis = timestampMillis;
    }

    public int numRequests() {
        return numRequests;
    }

    /** Returns all accesses, one request after the other. */
    public int[] blocks() {
        return blocks;
    }

    /** Returns where each request's blocks end, exclusive. */
    public int[] ends() {
        return ends;
    }

    public int[] promptTokens() {
        return promptTokens;
    }

    public long[] timestampMillis() {
        return timestampMillis;
    }
}

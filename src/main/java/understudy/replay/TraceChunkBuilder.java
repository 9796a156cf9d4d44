package understudy.replay;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Makes chunks of the requests of one trace, whose block ids may be any numbers: blocks are numbered without gaps, in
 * the order in which they first appear.
 */
public final class TraceChunkBuilder {
    private static final int NONE = -1;

    private final Long2IntOpenHashMap numbers = new Long2IntOpenHashMap();
    private final IntArrayList blocks = new IntArrayList();
    private final IntArrayList ends = new IntArrayList();
    private final IntArrayList promptTokens = new IntArrayList();
    private final LongArrayList timestampMillis = new LongArrayList();
    private int numRequests;

    /** Creates a builder that has seen no block yet. */
    public TraceChunkBuilder() {
        numbers.defaultReturnValue(NONE);
    }

    /**
     * Adds a request to the chunk that is being made.
     *
     * @param blockIds the blocks of its prompt, from the start; one that stands there twice is accessed twice
     * @param numPromptTokens the prompt's length
     * @param atMillis when it arrives on the clock of the trace
     */
    public void add(LongList blockIds, int numPromptTokens, long atMillis) {
        for (int i = 0; i < blockIds.size(); i++) {
            blocks.add(numberOf(blockIds.getLong(i)));
        }
        ends.add(blocks.size());
        promptTokens.add(numPromptTokens);
        timestampMillis.add(atMillis);
        numRequests++;
    }

    private int numberOf(long blockId) {
        int fresh = numbers.size();
        int known = numbers.putIfAbsent(blockId, fresh);
        return known == NONE ? fresh : known;
    }

    /** Returns the requests that were added since the last chunk, and begins another one. */
    public TraceChunk build() {
        var chunk = new TraceChunk(
                ends.size(),
                blocks.toIntArray(),
                ends.toIntArray(),
                promptTokens.toIntArray(),
                timestampMillis.toLongArray());
        blocks.clear();
        ends.clear();
        promptTokens.clear();
        timestampMillis.clear();
        return chunk;
    }

    /** Returns how many requests have been added since the beginning of the trace. */
    public int numRequests() {
        return numRequests;
    }

    /** Returns how many different blocks have appeared since the beginning of the trace. */
    public int numBlocks() {
        return numbers.size();
    }

    /** Returns how many accesses the chunk that is being made has. */
    public int numAccesses() {
        return blocks.size();
    }

    /** Returns whether no request was added since the last chunk. */
    public boolean isEmpty() {
        return ends.isEmpty();
    }
}

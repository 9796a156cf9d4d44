package understudy.replay;

import it.unimi.dsi.fastutil.longs.LongArrays;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;

/**
 * Counts how far apart the accesses to the same block are, in blocks and in time. Give it the chunks of a trace in
 * order, then take the view. Not thread safe.
 */
public final class ReuseCounter {
    private static final int MAX_POWERS = 32;

    private final RecencyStack stack = new RecencyStack();
    private final long[] reusesByPower = new long[MAX_POWERS];
    private final long[] reusesByLimit = new long[SharingView.numLimits()];
    private long[] latestMillis = new long[0];
    private long numAccesses;
    private long numRequests;
    private long nowMillis = Long.MIN_VALUE;
    private long requestBackInTime;

    /** Counts the next requests of the trace. */
    public void accept(TraceChunk chunk) {
        int[] blocks = chunk.blocks();
        int at = 0;
        for (int request = 0; request < chunk.numRequests(); request++) {
            arrive(chunk.timestampMillis()[request]);
            for (; at < chunk.ends()[request]; at++) {
                access(blocks[at]);
            }
        }
        numAccesses += blocks.length;
    }

    /** Returns the counts so far. */
    public SharingView finish() {
        int numPowers = MAX_POWERS;
        while (numPowers > 1 && reusesByPower[numPowers - 1] == 0) {
            numPowers--;
        }
        return new SharingView(
                numAccesses,
                stack.size(),
                cumulative(Arrays.copyOf(reusesByPower, numPowers)),
                cumulative(reusesByLimit.clone()),
                requestBackInTime);
    }

    private void arrive(long atMillis) {
        numRequests++;
        if (atMillis < nowMillis && requestBackInTime == 0) {
            requestBackInTime = numRequests;
        }
        nowMillis = atMillis;
    }

    private void access(int block) {
        int distance = stack.access(block);
        if (block >= latestMillis.length) {
            latestMillis = LongArrays.grow(latestMillis, block + 1);
        }
        if (distance != RecencyStack.NEVER) {
            // An LRU cache still has the block if it has room for it and the others: for distance + 1 blocks.
            reusesByPower[Integer.SIZE - Integer.numberOfLeadingZeros(distance)]++;
            noteGap(nowMillis - latestMillis[block]);
        }
        latestMillis[block] = nowMillis;
    }

    private void noteGap(long gapMillis) {
        for (int i = 0; i < reusesByLimit.length; i++) {
            if (gapMillis <= SharingView.limitMillis(i)) {
                reusesByLimit[i]++;
                return;
            }
        }
    }

    private static LongList cumulative(long[] counts) {
        for (int i = 1; i < counts.length; i++) {
            counts[i] += counts[i - 1];
        }
        return LongList.of(counts);
    }
}

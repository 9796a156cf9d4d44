package understudy.replay;

import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Reuse of a trace's content: how much of it comes back, and after how long; made by {@link ReuseCounter}. A reuse is
 * an access to a block that was accessed before. Lists are cumulative.
 *
 * @param numAccesses block accesses of the trace
 * @param numBlocks different blocks, so {@code numAccesses - numBlocks} accesses are reuses
 * @param reusesByLruBlocks at index i, the reuses that an LRU cache of 2^i blocks, or any larger one, hits; the last
 *     one is all of them
 * @param reusesWithinMillis for each {@link #limitMillis}, the reuses of a block accessed so recently
 * @param requestBackInTime the first request, from 1, with a timestamp before that of the one above it, which makes
 *     {@code reusesWithinMillis} meaningless; 0 if time never runs back
 */
public record SharingView(
        long numAccesses,
        int numBlocks,
        LongList reusesByLruBlocks,
        LongList reusesWithinMillis,
        long requestBackInTime) {
    private static final long[] WITHIN = {1_000, 60_000, 600_000, 3_600_000};
    private static final String[] NAMES = {"1 s", "1 min", "10 min", "1 h"};

    /** Returns how many limits of time there are. */
    public static int numLimits() {
        return WITHIN.length;
    }

    /** Returns a limit of time: 1 second, 1 minute, 10 minutes, 1 hour. */
    public static long limitMillis(int index) {
        return WITHIN[index];
    }

    /** Returns a limit of time as people write it. */
    public static String limitName(int index) {
        return NAMES[index];
    }

    /** Returns the accesses to a block that was accessed before. */
    public long numReuses() {
        return numAccesses - numBlocks;
    }

    /** Returns whether the trace's timestamps say how long content waits for its next use. */
    public boolean isTimed() {
        return requestBackInTime == 0;
    }
}

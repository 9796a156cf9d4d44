package understudy.replay;

import java.util.Arrays;
import java.util.List;
import understudy.replay.cache.BeladyCache;

/**
 * Next access to the same block, for every access of a trace; for the policies that know the future. It never changes,
 * so replays of any policy and capacity may share it.
 */
public final class NextUse {
    /** Next access of a block that is not accessed again. */
    public static final int NEVER = BeladyCache.NEVER;

    private final int[] nextUses;

    private NextUse(int[] nextUses) {
        this.nextUses = nextUses;
    }

    /**
     * Reads a whole trace backwards, in time linear in its accesses.
     *
     * @throws IllegalArgumentException if it has more than 1,073,741,816 block accesses
     */
    public static NextUse of(List<TraceChunk> chunks) {
        long numAccesses =
                chunks.stream().mapToLong(chunk -> chunk.blocks().length).sum();
        if (numAccesses > Replayer.MAX_ACCESSES) {
            throw Replayer.tooManyAccesses();
        }
        int numBlocks = chunks.stream().mapToInt(Replayer::numBlocks).max().orElse(0);
        return new NextUse(backwards(chunks, (int) numAccesses, numBlocks));
    }

    private static int[] backwards(List<TraceChunk> chunks, int numAccesses, int numBlocks) {
        var nextUses = new int[numAccesses];
        var lastSeen = new int[numBlocks];
        Arrays.fill(lastSeen, NEVER);
        int access = numAccesses;
        for (int i = chunks.size() - 1; i >= 0; i--) {
            int[] blocks = chunks.get(i).blocks();
            for (int at = blocks.length - 1; at >= 0; at--) {
                access--;
                nextUses[access] = lastSeen[blocks[at]];
                lastSeen[blocks[at]] = access;
            }
        }
        return nextUses;
    }

    /** Returns a cache that knows this future. */
    BeladyCache cache(int capacity, boolean mayBypass) {
        return new BeladyCache(capacity, mayBypass, nextUses);
    }

    public int numAccesses() {
        return nextUses.length;
    }

    /**
     * Returns the number of the next access to the block of the n-th access, counted from 0; {@link #NEVER} if none.
     */
    public int after(int access) {
        return nextUses[access];
    }
}

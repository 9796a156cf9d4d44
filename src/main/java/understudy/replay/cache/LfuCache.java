package understudy.replay.cache;

import java.util.Arrays;

/**
 * Least frequently used: evicts the block with the fewest accesses since it came in; among equals the one whose last
 * access is the oldest, or the one that came in first. Accesses are forgotten on eviction.
 *
 * <p>A block's rank is its number of accesses and, below that, the instant that breaks ties. Ranks only rise, so the
 * order is kept lazily: a hit raises the rank and moves nothing. Blocks wait in the order in which they came in, and
 * those that turn out to have been hit when it is their turn go to a heap, with the rank they have by then.
 *
 * <p>The live pool counts requests that have let go of a block instead, and breaks ties by the last release.
 */
public final class LfuCache extends BlockCache {
    private static final long ABSENT = 0;
    private static final int COUNT_SHIFT = 32;
    private static final long ONE_ACCESS = 1L << COUNT_SHIFT;

    private final int capacity;
    private final boolean tiesByArrival;
    private final BlockRing newcomers;
    private final RankHeap others = new RankHeap();
    private long[] ranks = {};
    private int numAccesses;
    private int size;

    /** Creates an empty cache that breaks ties by arrival, or else by last access. */
    public LfuCache(int capacity, boolean tiesByArrival) {
        this.capacity = capacity;
        this.tiesByArrival = tiesByArrival;
        newcomers = new BlockRing(capacity);
    }

    @Override
    boolean access(int block) {
        long rank = ranks[block];
        int now = numAccesses++;
        if (rank != ABSENT) {
            long count = (rank & -ONE_ACCESS) + ONE_ACCESS;
            ranks[block] = tiesByArrival ? rank + ONE_ACCESS : count | now;
            return true;
        }
        if (size == capacity) {
            ranks[evict()] = ABSENT;
        } else {
            size++;
        }
        newcomers.add(block);
        ranks[block] = ONE_ACCESS | now;
        return false;
    }

    @Override
    public int accessPrompt(int[] blocks, int from, int to) {
        return accessInOrder(blocks, from, to);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public void reserve(int numBlocks) {
        ranks = Arrays.copyOf(ranks, numBlocks);
        newcomers.reserve(numBlocks);
    }

    private int evict() {
        while (newcomers.size() > 0) {
            int block = newcomers.poll();
            if (ranks[block] < 2 * ONE_ACCESS) {
                return block;
            }
            others.add(ranks[block], block);
        }
        while (others.firstRank() != ranks[others.first()]) {
            others.raiseFirst(ranks[others.first()]);
        }
        return others.poll();
    }
}

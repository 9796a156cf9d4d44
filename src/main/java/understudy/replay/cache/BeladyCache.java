package understudy.replay.cache;

/**
 * Belady's MIN: evicts the block whose next access is the furthest away. It need not know which block that is: one
 * whose next access is the n-th of the trace is resident when the n-th access comes if and only if n is in the set of
 * next accesses of residents. Blocks that are never accessed again are all alike, and only counted.
 *
 * <p>Follows <a href="https://dl.acm.org/doi/10.1147/sj.52.0078">Belady, IBM Systems Journal 1966</a>, on the stream of
 * block accesses. It bounds block hits, not hit tokens: those need a prefix without gaps.
 */
public final class BeladyCache extends BlockCache {
    /** Next access of a block that is not accessed again. */
    public static final int NEVER = Integer.MAX_VALUE;

    private final int capacity;
    private final boolean mayBypass;
    private final int[] nextUses;
    private final AccessSet nextOfResidents;
    private int numAccesses;
    private int numNeverUsedAgain;
    private int size;

    /**
     * Creates an empty cache that must admit every block, or that may leave out what it would evict at once.
     *
     * @param nextUses for each access of the trace, the number of the next access to the same block, or {@link #NEVER};
     *     shared, and never changed
     */
    public BeladyCache(int capacity, boolean mayBypass, int[] nextUses) {
        this.capacity = capacity;
        this.mayBypass = mayBypass;
        this.nextUses = nextUses;
        nextOfResidents = new AccessSet(nextUses.length);
    }

    @Override
    boolean access(int block) {
        int now = numAccesses++;
        int next = nextUses[now];
        boolean hit = nextOfResidents.remove(now);
        if (!hit && !makeRoom(next)) {
            return false;
        }
        if (next == NEVER) {
            numNeverUsedAgain++;
        } else {
            nextOfResidents.add(next);
        }
        return hit;
    }

    @Override
    public int accessPrompt(int[] blocks, int from, int to) {
        if (to - from > nextUses.length - numAccesses) {
            throw new IllegalArgumentException(
                    "the trace has more than the " + nextUses.length + " accesses whose next uses are known");
        }
        return accessInOrder(blocks, from, to);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public void reserve(int numBlocks) {
        // It has no table of blocks.
    }

    /** Makes room for a block, and returns whether that was worth it. */
    private boolean makeRoom(int next) {
        if (size < capacity) {
            size++;
        } else if (numNeverUsedAgain > 0) {
            // With one that is never used again itself, whether it comes in makes no difference.
            numNeverUsedAgain--;
        } else {
            int furthest = nextOfResidents.last();
            if (mayBypass && next >= furthest) {
                return false;
            }
            nextOfResidents.remove(furthest);
        }
        return true;
    }
}

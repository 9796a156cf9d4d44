package understudy.replay.cache;

import java.util.Arrays;

/**
 * S3-FIFO: a small queue filters out blocks that are accessed once, a main queue keeps the rest, and a ghost queue
 * remembers what was evicted, so that a block that comes back goes straight to main.
 *
 * <p>Follows <a href="https://dl.acm.org/doi/10.1145/3600006.3613147">Yang et al., SOSP 2023</a>, in the variant in
 * which prefix caches are commonly replayed: one hit is enough to leave small for main, where the paper asks for two;
 * the frequency is kept on the way; small is emptied only to its size, so that the cache may stay below its capacity;
 * and ghosts remember what main evicts, too. The live pool follows the paper.
 */
public final class S3FifoCache extends BlockCache {
    private static final int ABSENT = 0;
    /**
     * The state of a resident block with frequency 0; those above it count its hits. Ghosts have the complement of a
     * slot.
     */
    private static final int RESIDENT = 1;

    private final int maxState;
    private final BlockRing small;
    private final BlockRing main;
    private final GhostQueue ghosts;
    private int[] states = {};

    /** Creates an empty cache whose frequencies saturate at {@code maxFreq}. */
    public S3FifoCache(S3FifoSizes sizes, int maxFreq) {
        maxState = (int) Math.min(Integer.MAX_VALUE, (long) RESIDENT + maxFreq);
        small = new BlockRing(sizes.small());
        main = new BlockRing(sizes.main());
        ghosts = new GhostQueue(sizes.main());
    }

    @Override
    boolean access(int block) {
        int state = states[block];
        if (state >= RESIDENT) {
            if (state < maxState) {
                states[block] = state + 1;
            }
            return true;
        }
        admit(block, state);
        return false;
    }

    @Override
    public int accessPrompt(int[] blocks, int from, int to) {
        return accessInOrder(blocks, from, to);
    }

    @Override
    public int size() {
        return small.size() + main.size();
    }

    @Override
    public void reserve(int numBlocks) {
        states = Arrays.copyOf(states, numBlocks);
        small.reserve(numBlocks);
        main.reserve(numBlocks);
        ghosts.reserve(numBlocks);
    }

    private void admit(int block, int state) {
        if (state != ABSENT) {
            ghosts.remove(~state);
            admitToMain(block);
        } else if (small.isFull()) {
            leaveSmall(small.replaceFirst(block));
        } else {
            small.add(block);
        }
        states[block] = RESIDENT;
    }

    private void leaveSmall(int block) {
        if (states[block] > RESIDENT) {
            admitToMain(block);
        } else {
            remember(block);
        }
    }

    private void admitToMain(int block) {
        if (!main.isFull()) {
            main.add(block);
            return;
        }
        // Each round takes a hit from a block, so there is an end to them.
        while (states[main.first()] > RESIDENT) {
            states[main.first()]--;
            main.rotate();
        }
        remember(main.replaceFirst(block));
    }

    private void remember(int block) {
        if (ghosts.isFull()) {
            states[ghosts.oldest()] = ABSENT;
        }
        states[block] = ~ghosts.add(block);
    }
}

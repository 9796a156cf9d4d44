package understudy.replay.cache;

import java.util.Arrays;

/**
 * First in, first out: evicts the block that came in first; hits change nothing.
 *
 * <p>In the live pool a block comes in when it is first released, here when it is first accessed.
 */
public final class FifoCache extends BlockCache {
    private final BlockRing arrivals;
    private boolean[] isResident = {};

    public FifoCache(int capacity) {
        arrivals = new BlockRing(capacity);
    }

    @Override
    boolean access(int block) {
        if (isResident[block]) {
            return true;
        }
        if (arrivals.isFull()) {
            isResident[arrivals.replaceFirst(block)] = false;
        } else {
            arrivals.add(block);
        }
        isResident[block] = true;
        return false;
    }

    @Override
    public int accessPrompt(int[] blocks, int from, int to) {
        return accessInOrder(blocks, from, to);
    }

    @Override
    public int size() {
        return arrivals.size();
    }

    @Override
    public void reserve(int numBlocks) {
        isResident = Arrays.copyOf(isResident, numBlocks);
        arrivals.reserve(numBlocks);
    }
}

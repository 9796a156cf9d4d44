package understudy.replay.cache;

/**
 * Cache without bounds, which never evicts. Ids are dense in the order of first appearance, so that a block is resident
 * if its id is below their number.
 */
public final class InfiniteCache extends BlockCache {
    private int size;

    @Override
    boolean access(int block) {
        if (block < size) {
            return true;
        }
        if (block > size) {
            throw new IllegalArgumentException("block " + block + " appears before block " + size);
        }
        size++;
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
        // It has no table of blocks.
    }
}

package understudy.kvcache.replay;

/** Never evicts. Ids are dense in the order of first appearance, so that a block is resident if its id is below their number. */
final class InfiniteCache extends BlockCache {
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
    int accessPrompt(int[] blocks, int from, int to) {
        return accessInOrder(blocks, from, to);
    }

    @Override
    int size() {
        return size;
    }

    @Override
    void reserve(int numBlocks) {
        // It has no table of blocks.
    }
}

package understudy.kvcache.eviction;

/**
 * vLLM V1's order: the block that has been free longest goes first, of one request the last block first; with {@link
 * FreeOrder#UNHASHED_FIRST}, blocks without a hash go before all others, last in first out.
 *
 * <p>Follows {@code FreeKVCacheBlockQueue} and {@code BlockPool.free_blocks} of vLLM. A doubly
 * linked list over block ids; block 0, the null block, serves as its sentinel. Both links of a block stand side by side,
 * for the processor's cache.
 */
final class LruFreeQueue implements FreeBlockQueue {
    private static final int SENTINEL = PrefixTable.NULL_BLOCK;

    private final PrefixTable prefixTable;
    private final FreeOrder freeOrder;

    /** The block after each block, and the one before it. */
    private final int[] links;

    private int size;

    LruFreeQueue(PrefixTable prefixTable, FreeOrder freeOrder) {
        this.prefixTable = prefixTable;
        this.freeOrder = freeOrder;
        int numBlocks = prefixTable.numBlocks();
        links = new int[numBlocks * 2];
        for (int block = 1; block < numBlocks; block++) {
            insertBefore(SENTINEL, block);
        }
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int poll() {
        int block = next(SENTINEL);
        if (block == SENTINEL) {
            throw new IllegalStateException("no free block");
        }
        remove(block);
        return block;
    }

    @Override
    public int peek(int[] blocks, int count) {
        int numPeeked = 0;
        for (int block = next(SENTINEL); block != SENTINEL && numPeeked < count; block = next(block)) {
            blocks[numPeeked++] = block;
        }
        return numPeeked;
    }

    @Override
    public void remove(int block) {
        link(previous(block), next(block));
        size--;
    }

    @Override
    public void release(int[] blocks, int count) {
        int oldHead = next(SENTINEL);
        for (int i = 0; i < count; i++) {
            if (goesFirst(blocks[i])) {
                insertBefore(oldHead, blocks[i]);
            }
        }
        for (int i = 0; i < count; i++) {
            if (!goesFirst(blocks[i])) {
                insertBefore(SENTINEL, blocks[i]);
            }
        }
    }

    @Override
    public int[] order() {
        var order = new int[size];
        int block = next(SENTINEL);
        for (int i = 0; i < size; i++) {
            order[i] = block;
            block = next(block);
        }
        return order;
    }

    private boolean goesFirst(int block) {
        return freeOrder == FreeOrder.UNHASHED_FIRST && !prefixTable.isHashed(block);
    }

    private void insertBefore(int successor, int block) {
        link(previous(successor), block);
        link(block, successor);
        size++;
    }

    private int next(int block) {
        return links[block * 2];
    }

    private int previous(int block) {
        return links[block * 2 + 1];
    }

    private void link(int block, int successor) {
        links[block * 2] = successor;
        links[successor * 2 + 1] = block;
    }
}

package understudy.kvcache.eviction;

import java.util.Arrays;

/**
 * vLLM V1's order: the block that has been free longest goes first, of one request the last block first; with {@link
 * FreeOrder#UNHASHED_FIRST}, blocks without a hash go before all others, last in first out.
 *
 * <p>Follows {@code FreeKVCacheBlockQueue} and {@code BlockPool.free_blocks} of vLLM. A doubly
 * linked list over block ids; block 0, the null block, serves as its sentinel. Both links of a block stand side by side,
 * for the processor's cache.
 *
 * <p>Blocks that were never given out follow each other by number. The first of them stands in the list for all, so that
 * links take memory for blocks that have been used only.
 */
final class LruFreeQueue implements FreeRunQueue {
    private static final int SENTINEL = PrefixTable.NULL_BLOCK;

    private final PrefixTable prefixTable;
    private final FreeOrder freeOrder;

    private final int numBlocks;

    /** The block after each block, and the one before it. */
    private int[] links;

    /** The first block that was never given out, or {@link #numBlocks}. */
    private int firstNew = 1;

    private int size;

    LruFreeQueue(PrefixTable prefixTable, FreeOrder freeOrder) {
        this.prefixTable = prefixTable;
        this.freeOrder = freeOrder;
        numBlocks = prefixTable.numBlocks();
        links = new int[prefixTable.capacity() * 2];
        if (firstNew < numBlocks) {
            insertBefore(SENTINEL, firstNew);
        }
        size = numBlocks - 1;
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
        if (block == firstNew) {
            insertNextNew();
        }
        return block;
    }

    /** Puts the next block that was never given out in place of the one before it, which was the head. */
    private void insertNextNew() {
        firstNew++;
        if (firstNew < numBlocks) {
            if (firstNew * 2 >= links.length) {
                links = Arrays.copyOf(links, PrefixTable.grown(firstNew, numBlocks) * 2);
            }
            int head = next(SENTINEL);
            link(SENTINEL, firstNew);
            link(firstNew, head);
        }
    }

    @Override
    public void remove(int block) {
        link(previous(block), next(block));
        size--;
    }

    /** Blocks of a request were released from its last one on, so as a rule the next one of them is the one before it. */
    @Override
    public void remove(int[] blocks, int count) {
        for (int i = 0; i < count; i++) {
            int successor = next(blocks[i]);
            int predecessor = previous(blocks[i]);
            while (i + 1 < count && predecessor == blocks[i + 1]) {
                predecessor = previous(blocks[++i]);
            }
            link(predecessor, successor);
        }
        size -= count;
    }

    @Override
    public int peek() {
        return next(SENTINEL);
    }

    /** The links between them stay as they are until they are released. */
    @Override
    public void removeRun(int[] blocks, int from, int to) {
        link(previous(blocks[to - 1]), next(blocks[from]));
        size -= to - from;
    }

    @Override
    public void releaseRun(int[] blocks, int count) {
        link(previous(SENTINEL), blocks[count - 1]);
        link(blocks[0], SENTINEL);
        size += count;
    }

    @Override
    public void release(int[] blocks, int count) {
        int numFirst = freeOrder == FreeOrder.UNHASHED_FIRST ? releaseUnhashed(blocks, count) : 0;
        int last = previous(SENTINEL);
        for (int i = 0; i < count; i++) {
            if (numFirst > 0 && !prefixTable.isHashed(blocks[i])) {
                numFirst--;
            } else {
                link(last, blocks[i]);
                last = blocks[i];
            }
        }
        link(last, SENTINEL);
        size += count;
    }

    /** Puts blocks without a hash before all others, and returns how many there are. */
    private int releaseUnhashed(int[] blocks, int count) {
        int oldHead = next(SENTINEL);
        int numUnhashed = 0;
        for (int i = 0; i < count; i++) {
            if (!prefixTable.isHashed(blocks[i])) {
                insertBefore(oldHead, blocks[i]);
                numUnhashed++;
            }
        }
        return numUnhashed;
    }

    @Override
    public int[] order() {
        var order = new int[size];
        int count = 0;
        for (int block = next(SENTINEL); block != SENTINEL; block = next(block)) {
            order[count++] = block;
            for (int other = block + 1; block == firstNew && other < numBlocks; other++) {
                order[count++] = other;
            }
        }
        return order;
    }

    private void insertBefore(int successor, int block) {
        link(previous(successor), block);
        link(block, successor);
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

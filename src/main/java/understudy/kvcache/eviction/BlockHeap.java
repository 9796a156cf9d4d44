package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.ints.IntComparator;
import it.unimi.dsi.fastutil.ints.IntHeapIndirectPriorityQueue;
import java.util.stream.IntStream;

/**
 * Blocks in the order of a comparator, with removal from the middle. A block's rank must not change while it is here.
 */
final class BlockHeap {
    private final int numBlocks;
    private final IntComparator comparator;
    private final IntHeapIndirectPriorityQueue heap;

    BlockHeap(int numBlocks, IntComparator comparator) {
        this.numBlocks = numBlocks;
        this.comparator = comparator;
        int[] identity = IntStream.range(0, numBlocks).toArray();
        heap = new IntHeapIndirectPriorityQueue(identity, numBlocks, comparator);
    }

    void add(int block) {
        heap.enqueue(block);
    }

    void remove(int block) {
        heap.remove(block);
    }

    boolean isEmpty() {
        return heap.isEmpty();
    }

    boolean contains(int block) {
        return heap.contains(block);
    }

    /** Removes and returns the first block. */
    int poll() {
        return heap.dequeue();
    }

    int size() {
        return heap.size();
    }

    int[] order() {
        return IntStream.range(1, numBlocks)
                .filter(heap::contains)
                .boxed()
                .sorted(comparator)
                .mapToInt(Integer::intValue)
                .toArray();
    }
}

package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntArrays;
import java.util.Arrays;

/** Numbers of pages in an order, with two ends. */
final class PageList {
    private int[] ring = new int[16];
    private int first;
    private int size;

    int size() {
        return size;
    }

    int get(int index) {
        return ring[(first + index) & (ring.length - 1)];
    }

    int removeFirst() {
        if (size == 0) {
            throw new IllegalStateException("there is no free page");
        }
        int page = ring[first];
        first = (first + 1) & (ring.length - 1);
        size--;
        return page;
    }

    void addLast(int page) {
        grow(1);
        ring[(first + size++) & (ring.length - 1)] = page;
    }

    void addLast(int[] pages, int from, int to) {
        grow(to - from);
        for (int i = from; i < to; i++) {
            ring[(first + size++) & (ring.length - 1)] = pages[i];
        }
    }

    /** Puts pages in front of all others, in their order. */
    void addFirst(int[] pages, int count) {
        grow(count);
        for (int i = count - 1; i >= 0; i--) {
            first = (first - 1) & (ring.length - 1);
            ring[first] = pages[i];
            size++;
        }
    }

    /** Takes all of another list, and sorts. */
    void mergeSorted(PageList other) {
        int count = size + other.size;
        var all = Arrays.copyOf(toArray(), count);
        System.arraycopy(other.toArray(), 0, all, size, other.size);
        IntArrays.unstableSort(all);
        other.clear();
        clear();
        addLast(all, 0, count);
    }

    void clear() {
        first = 0;
        size = 0;
    }

    int[] toArray() {
        var pages = new int[size];
        for (int i = 0; i < size; i++) {
            pages[i] = get(i);
        }
        return pages;
    }

    private void grow(int count) {
        if (size + count > ring.length) {
            var larger = new int[Integer.highestOneBit(size + count) * 2];
            for (int i = 0; i < size; i++) {
                larger[i] = get(i);
            }
            ring = larger;
            first = 0;
        }
    }
}

package understudy.kvcache.radix;

/** Numbers of pages in an order, with two ends, in a ring that grows. */
final class PageRing {
    private static final int FIRST_CAPACITY = 16;

    private int[] ring = {};
    private int first;
    private int size;

    int size() {
        return size;
    }

    int capacity() {
        return ring.length;
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

    void clear() {
        first = 0;
        size = 0;
    }

    private void grow(int count) {
        if (size + count > ring.length) {
            var larger = new int[Math.max(FIRST_CAPACITY, Integer.highestOneBit(size + count) * 2)];
            for (int i = 0; i < size; i++) {
                larger[i] = get(i);
            }
            ring = larger;
            first = 0;
        }
    }
}

package understudy.runtime;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Timers in the order (time, creation), as a binary heap. Cancelled timers are dropped when they reach the top, or all
 * at once by {@link #compact()}. Not thread safe.
 */
final class TimerHeap {
    private @Nullable VirtualTimer[] heap = new @Nullable VirtualTimer[64];
    private int size;

    int size() {
        return size;
    }

    void add(VirtualTimer timer) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        siftUp(size++, timer);
    }

    /** Returns the first timer that is not cancelled, or null when none is left. */
    @Nullable VirtualTimer peek() {
        var top = heap[0];
        while (top != null && top.isCancelled()) {
            removeTop();
            top = heap[0];
        }
        return top;
    }

    /** Removes the timer that {@link #peek()} returned. */
    void removeTop() {
        var last = get(--size);
        heap[size] = null;
        if (size > 0) {
            siftDown(0, last);
        }
    }

    /** Drops every cancelled timer; linear in the number of timers. */
    void compact() {
        int kept = 0;
        for (int i = 0; i < size; i++) {
            var timer = get(i);
            if (!timer.isCancelled()) {
                heap[kept++] = timer;
            }
        }
        Arrays.fill(heap, kept, size, null);
        size = kept;
        for (int i = size / 2 - 1; i >= 0; i--) {
            siftDown(i, get(i));
        }
    }

    @SuppressWarnings("NullAway") // every index below size holds a timer
    private VirtualTimer get(int index) {
        return heap[index];
    }

    private void siftUp(int start, VirtualTimer timer) {
        int index = start;
        while (index > 0) {
            int parentIndex = (index - 1) >>> 1;
            var parent = get(parentIndex);
            if (!timer.isBefore(parent)) {
                break;
            }
            heap[index] = parent;
            index = parentIndex;
        }
        heap[index] = timer;
    }

    private void siftDown(int start, VirtualTimer timer) {
        int index = start;
        int half = size >>> 1;
        while (index < half) {
            int childIndex = 2 * index + 1;
            var child = get(childIndex);
            int rightIndex = childIndex + 1;
            if (rightIndex < size && get(rightIndex).isBefore(child)) {
                childIndex = rightIndex;
                child = get(rightIndex);
            }
            if (!child.isBefore(timer)) {
                break;
            }
            heap[index] = child;
            index = childIndex;
        }
        heap[index] = timer;
    }
}

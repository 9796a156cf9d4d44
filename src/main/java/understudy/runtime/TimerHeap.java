package understudy.runtime;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Timers in the order (time, creation), as a binary heap. Cancelled timers are dropped when they reach the top, or all
 * at once by {@link #compact()}. Not thread safe.
 */
final class TimerHeap {
    private @Nullable VirtualTimer[] heap = new @Nullable VirtualTimer[64];

    /** Time of each timer, as the timers themselves have left the processor's caches when they are compared. */
    private long[] dueNanos = new long[heap.length];

    private int size;

    int size() {
        return size;
    }

    void add(VirtualTimer timer) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
            dueNanos = Arrays.copyOf(dueNanos, size * 2);
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
                put(kept++, timer);
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
            if (!isBefore(timer, parentIndex)) {
                break;
            }
            move(parentIndex, index);
            index = parentIndex;
        }
        put(index, timer);
    }

    private void siftDown(int start, VirtualTimer timer) {
        int index = start;
        int half = size >>> 1;
        while (index < half) {
            int childIndex = 2 * index + 1;
            int rightIndex = childIndex + 1;
            if (rightIndex < size && isBefore(rightIndex, childIndex)) {
                childIndex = rightIndex;
            }
            if (isBefore(timer, childIndex)) {
                break;
            }
            move(childIndex, index);
            index = childIndex;
        }
        put(index, timer);
    }

    /** Returns whether one timer of the heap goes before another one. */
    private boolean isBefore(int index, int other) {
        return dueNanos[index] < dueNanos[other]
                || (dueNanos[index] == dueNanos[other] && get(index).sequence < get(other).sequence);
    }

    /** Returns whether a timer that is not in the heap goes before one that is. */
    private boolean isBefore(VirtualTimer timer, int index) {
        return timer.dueNanos < dueNanos[index]
                || (timer.dueNanos == dueNanos[index] && timer.sequence < get(index).sequence);
    }

    private void move(int from, int to) {
        heap[to] = heap[from];
        dueNanos[to] = dueNanos[from];
    }

    private void put(int index, VirtualTimer timer) {
        heap[index] = timer;
        dueNanos[index] = timer.dueNanos;
    }
}

package understudy.engine.vllm;

import it.unimi.dsi.fastutil.longs.LongHeapPriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Calendar of running requests by step: for which of them something is due, in running order. A request that is no
 * longer in the running list drops out by itself.
 */
final class RequestCalendar {
    private final RunningList running;

    /** The step in the high half, and the place in the running order in the low one. */
    private final LongHeapPriorityQueue entries = new LongHeapPriorityQueue();

    RequestCalendar(RunningList running) {
        this.running = running;
    }

    void add(int step, VllmRequest request) {
        entries.enqueue((long) step << Integer.SIZE | request.runningOrder);
    }

    /** Removes and returns the next request that is due at a step or before, or null if there is none. */
    @Nullable VllmRequest pollDue(int step) {
        while (!entries.isEmpty() && entries.firstLong() >>> Integer.SIZE <= step) {
            var due = running.find((int) entries.dequeueLong());
            if (due != null) {
                return due;
            }
        }
        return null;
    }

    void clear() {
        entries.clear();
    }
}

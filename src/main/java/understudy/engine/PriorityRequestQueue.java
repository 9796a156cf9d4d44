package understudy.engine;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** By (priority, arrival, request id), all ascending; what is put back takes its place in that order. */
final class PriorityRequestQueue implements RequestQueue {
    static final Comparator<EngineRequest> ORDER = Comparator.<EngineRequest>comparingInt(
                    r -> r.request().priority())
            .thenComparingLong(r -> r.request().arrivalNanos())
            .thenComparing(r -> r.request().name())
            .thenComparingLong(r -> r.request().id());

    private final PriorityQueue<EngineRequest> queue = new PriorityQueue<>(ORDER);

    @Override
    public @Nullable EngineRequest peek() {
        return queue.peek();
    }

    @Override
    public void pop() {
        queue.remove();
    }

    @Override
    public void add(EngineRequest request) {
        queue.add(request);
    }

    @Override
    public void prepend(EngineRequest request) {
        queue.add(request);
    }

    @Override
    public void remove(EngineRequest request) {
        queue.remove(request);
    }

    @Override
    public int size() {
        return queue.size();
    }

    @Override
    public boolean goesBefore(EngineRequest head, EngineRequest otherHead) {
        return ORDER.compare(head, otherHead) < 0;
    }
}

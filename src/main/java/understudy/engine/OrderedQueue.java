package understudy.engine;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Requests by a fixed order; what is put back takes its place in that order. */
final class OrderedQueue implements RequestQueue {
    private static final Comparator<EngineRequest> BY_ARRIVAL = Comparator.<EngineRequest>comparingLong(
                    r -> r.request().arrivalNanos())
            .thenComparing(r -> r.request().name())
            .thenComparingLong(r -> r.request().id());

    /** vLLM's priority policy: (priority, arrival, request id), all ascending. */
    static final Comparator<EngineRequest> BY_PRIORITY =
            Comparator.<EngineRequest>comparingInt(r -> r.request().priority()).thenComparing(BY_ARRIVAL);

    /** Shortest prompt first. */
    static final Comparator<EngineRequest> BY_PROMPT_LENGTH =
            Comparator.comparingInt(EngineRequest::numPromptTokens).thenComparing(BY_ARRIVAL);

    private final Comparator<EngineRequest> order;
    private final PriorityQueue<EngineRequest> queue;

    OrderedQueue(Comparator<EngineRequest> order) {
        this.order = order;
        queue = new PriorityQueue<>(order);
    }

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
        return order.compare(head, otherHead) < 0;
    }
}

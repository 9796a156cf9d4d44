package understudy.engine.vllm.queue;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Requests in a fixed order; requests that are put back take their place in that order. */
final class OrderedQueue<R extends QueuedRequest> implements RequestQueue<R> {
    private static final Comparator<QueuedRequest> BY_ARRIVAL = Comparator.comparingLong(QueuedRequest::arrivalNanos)
            .thenComparing(QueuedRequest::name)
            .thenComparingLong(QueuedRequest::id);

    /** vLLM's priority policy: (priority, arrival, request id), all ascending. */
    static final Comparator<QueuedRequest> BY_PRIORITY =
            Comparator.comparingInt(QueuedRequest::priority).thenComparing(BY_ARRIVAL);

    /** Shortest prompt first. */
    static final Comparator<QueuedRequest> BY_PROMPT_LENGTH =
            Comparator.comparingInt(QueuedRequest::numPromptTokens).thenComparing(BY_ARRIVAL);

    private final Comparator<QueuedRequest> order;
    private final PriorityQueue<R> queue;

    OrderedQueue(Comparator<QueuedRequest> order) {
        this.order = order;
        queue = new PriorityQueue<>(order);
    }

    @Override
    public @Nullable R peek() {
        return queue.peek();
    }

    @Override
    public void pop() {
        queue.remove();
    }

    @Override
    public void add(R request) {
        queue.add(request);
    }

    @Override
    public void prepend(R request) {
        queue.add(request);
    }

    @Override
    public void remove(R request) {
        queue.remove(request);
    }

    @Override
    public List<R> inOrder() {
        return queue.stream().sorted(order).toList();
    }

    @Override
    public int size() {
        return queue.size();
    }

    @Override
    public boolean goesBefore(R head, R otherHead) {
        return order.compare(head, otherHead) < 0;
    }
}

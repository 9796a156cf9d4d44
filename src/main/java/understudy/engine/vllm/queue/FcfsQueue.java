package understudy.engine.vllm.queue;

import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** First come, first served; requests that are put back go to the front. */
final class FcfsQueue<R extends QueuedRequest> implements RequestQueue<R> {
    private final ArrayDeque<R> queue = new ArrayDeque<>();

    @Override
    public @Nullable R peek() {
        return queue.peekFirst();
    }

    @Override
    public void pop() {
        queue.removeFirst();
    }

    @Override
    public void add(R request) {
        queue.addLast(request);
    }

    @Override
    public void prepend(R request) {
        queue.addFirst(request);
    }

    @Override
    public void remove(R request) {
        queue.remove(request);
    }

    @Override
    public List<R> inOrder() {
        return List.copyOf(queue);
    }

    @Override
    public int size() {
        return queue.size();
    }

    /** Skipped requests go first, whatever heads the other queue. */
    @Override
    public boolean goesBefore(R head, R otherHead) {
        return true;
    }
}

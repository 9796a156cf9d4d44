package understudy.engine;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** First come, first served; what is put back goes to the front. */
final class FcfsQueue implements RequestQueue {
    private final ArrayDeque<EngineRequest> queue = new ArrayDeque<>();

    @Override
    public @Nullable EngineRequest peek() {
        return queue.peekFirst();
    }

    @Override
    public void pop() {
        queue.removeFirst();
    }

    @Override
    public void add(EngineRequest request) {
        queue.addLast(request);
    }

    @Override
    public void prepend(EngineRequest request) {
        queue.addFirst(request);
    }

    @Override
    public void remove(EngineRequest request) {
        queue.remove(request);
    }

    @Override
    public int size() {
        return queue.size();
    }

    /** Skipped requests go first, whoever heads the other queue. */
    @Override
    public boolean goesBefore(EngineRequest head, EngineRequest otherHead) {
        return true;
    }
}

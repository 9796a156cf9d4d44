package understudy.routing.admission;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.routing.ClusterView;

/**
 * Admission of requests, and those of them that wait.
 *
 * @param <R> entry of the queue
 */
public final class AdmissionControl<R> {
    private final AdmissionSpec spec;
    private final TokenBuckets buckets;
    private final WaitingRoom<R> waiting;

    /** Decision about a request that arrives. */
    public enum Verdict {
        ADMITTED,
        WAITS,
        RATE_LIMITED,
        QUEUE_FULL,
        NO_REPLICA
    }

    /** Creates an admission with an empty queue. */
    public AdmissionControl(AdmissionSpec spec) {
        this.spec = spec;
        buckets = new TokenBuckets(spec.rateLimit());
        waiting = new WaitingRoom<>(spec.queue());
    }

    /**
     * Decides about a request.
     *
     * @param waiter entry for the queue, which {@link #next} returns later
     * @param isAgain whether it was admitted before, and comes back from a replica
     */
    public Verdict arrive(Request request, R waiter, boolean isAgain, ClusterView view) {
        if (!isAgain && !buckets.pay(request, view.nowNanos())) {
            return Verdict.RATE_LIMITED;
        }
        if (waiting.isEmpty() && !spec.saturation().isReached(view)) {
            return Verdict.ADMITTED;
        }
        if (spec.queue().maxRequests() == 0 && view.numReady() == 0) {
            return Verdict.NO_REPLICA;
        }
        if (waiting.size() >= spec.queue().maxRequests()) {
            return Verdict.QUEUE_FULL;
        }
        waiting.add(request, waiter, view.nowNanos());
        return Verdict.WAITS;
    }

    /** Returns how many requests wait. */
    public int numWaiting() {
        return waiting.size();
    }

    /** Removes and returns the next entry to route, or null if the queue is empty or the cluster is still saturated. */
    public @Nullable R next(ClusterView view) {
        return waiting.isEmpty() || spec.saturation().isReached(view) ? null : waiting.poll();
    }

    /** Removes and returns the entries that have waited too long. */
    public List<R> expired(long nowNanos) {
        return waiting.expired(nowNanos);
    }

    /** Returns when the next entry will have waited too long; {@link Long#MAX_VALUE} if the queue is empty. */
    public long nextExpiryNanos() {
        return waiting.nextExpiryNanos();
    }

    /** Removes and returns a request that waits, or null if it does not. */
    public @Nullable R remove(long requestId) {
        return waiting.remove(requestId);
    }

    /** Returns the longest time to first token with which a request of this priority is still routed. */
    public long ttftLimitNanos(int priority) {
        return spec.ttftLimits().nanos(priority);
    }
}

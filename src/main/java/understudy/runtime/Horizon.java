package understudy.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Limit of virtual time for a loop that is driven by hand, and the callers that wait for it to get there. Not thread
 * safe.
 */
final class Horizon {
    private static final long NOWHERE = -1;

    private final List<CompletableFuture<Long>> waitingForTime = new ArrayList<>();
    private final List<CompletableFuture<Long>> waitingForStep = new ArrayList<>();
    private long nanos = NOWHERE;

    void waitForTime(long virtualNanos, CompletableFuture<Long> reached) {
        nanos = Math.max(nanos, virtualNanos);
        waitingForTime.add(reached);
    }

    /** The next instant is known only when everything of the present one has run: see {@link #step}. */
    void waitForStep(CompletableFuture<Long> reached) {
        waitingForStep.add(reached);
    }

    boolean isSet() {
        return nanos != NOWHERE;
    }

    boolean includes(long virtualNanos) {
        return virtualNanos <= nanos;
    }

    boolean isStepWanted() {
        return !waitingForStep.isEmpty();
    }

    /** Extends the horizon to the next instant, for those who wait for a step. */
    void step(long nextNanos) {
        nanos = Math.max(nanos, nextNanos);
        waitingForTime.addAll(waitingForStep);
        waitingForStep.clear();
    }

    long nanos() {
        return nanos;
    }

    /** Releases all callers that wait for a time. */
    void reach(long nowNanos) {
        nanos = NOWHERE;
        var reached = List.copyOf(waitingForTime);
        waitingForTime.clear();
        reached.forEach(waiter -> waiter.complete(nowNanos));
    }

    /** Fails all waiting callers with the reason. */
    void fail(Throwable error) {
        nanos = NOWHERE;
        waitingForTime.addAll(waitingForStep);
        waitingForStep.clear();
        waitingForTime.forEach(waiter -> waiter.completeExceptionally(error));
        waitingForTime.clear();
    }
}

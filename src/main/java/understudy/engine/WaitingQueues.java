package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The two waiting queues of a vLLM scheduler: requests that wait their turn, and requests that were passed over because
 * they could not run yet. Being passed over does not block the requests behind.
 */
final class WaitingQueues {
    private final RequestQueue waiting;
    private final RequestQueue skipped;
    private final List<EngineRequest> skippedInThisStep = new ArrayList<>();
    private boolean isHeadSkipped;

    WaitingQueues(SchedulingPolicy policy) {
        waiting = policy.createQueue();
        skipped = policy.createQueue();
    }

    /** Returns the requests whose cached prefixes must be known before the first {@link #head()} of a step. */
    List<EngineRequest> toMatch() {
        return waiting.toMatch();
    }

    /** Takes the answer to {@link #toMatch()}. */
    void onMatched(IntList numCachedTokens) {
        waiting.onMatched(numCachedTokens);
    }

    /** Returns the request to look at next in this step, or null when none is left. */
    @Nullable EngineRequest head() {
        var head = waiting.peek();
        var skippedHead = skipped.peek();
        isHeadSkipped = skippedHead != null && (head == null || skipped.goesBefore(skippedHead, head));
        return isHeadSkipped ? skippedHead : head;
    }

    /** Takes out the request that {@link #head()} returned. */
    void pop() {
        (isHeadSkipped ? skipped : waiting).pop();
    }

    /** Passes over the request that {@link #head()} returned, until {@link #endStep()}. */
    void skip(EngineRequest head) {
        pop();
        skippedInThisStep.add(head);
    }

    /** Puts what was passed over in this step ahead of what was before, in its original order. */
    void endStep() {
        for (int i = skippedInThisStep.size() - 1; i >= 0; i--) {
            skipped.prepend(skippedInThisStep.get(i));
        }
        skippedInThisStep.clear();
    }

    void add(EngineRequest request) {
        waiting.add(request);
    }

    /** Takes a preempted request back. */
    void prepend(EngineRequest request) {
        waiting.prepend(request);
    }

    void remove(EngineRequest request) {
        waiting.remove(request);
        skipped.remove(request);
    }

    int size() {
        return waiting.size() + skipped.size();
    }
}

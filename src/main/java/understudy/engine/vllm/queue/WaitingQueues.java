package understudy.engine.vllm.queue;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The two waiting queues of a vLLM scheduler: requests that wait their turn, and requests that were passed over because
 * they could not run yet. Being passed over does not block the requests behind.
 */
public final class WaitingQueues<R extends QueuedRequest> {
    private final RequestQueue<R> waiting;
    private final RequestQueue<R> skipped;
    private final List<R> skippedInThisStep = new ArrayList<>();
    private boolean isHeadSkipped;

    public WaitingQueues(SchedulingPolicy policy) {
        waiting = policy.createQueue();
        skipped = policy.createQueue();
    }

    /** Returns the requests whose cached prefixes must be known before the first {@link #head()} of a step. */
    public List<R> toMatch() {
        return waiting.toMatch();
    }

    /** Accepts the answer to {@link #toMatch()}. */
    public void onMatched(IntList numCachedTokens) {
        waiting.onMatched(numCachedTokens);
    }

    /** Returns the request to look at next in this step, or null when none is left. */
    public @Nullable R head() {
        var head = waiting.peek();
        var skippedHead = skipped.peek();
        isHeadSkipped = skippedHead != null && (head == null || skipped.goesBefore(skippedHead, head));
        return isHeadSkipped ? skippedHead : head;
    }

    /** Removes the request that {@link #head()} returned. */
    public void pop() {
        (isHeadSkipped ? skipped : waiting).pop();
    }

    /** Passes over the request that {@link #head()} returned, until {@link #endStep()}. */
    public void skip(R head) {
        pop();
        skippedInThisStep.add(head);
    }

    /** Puts the requests passed over in this step ahead of those from before, in their original order. */
    public void endStep() {
        for (int i = skippedInThisStep.size() - 1; i >= 0; i--) {
            skipped.prepend(skippedInThisStep.get(i));
        }
        skippedInThisStep.clear();
    }

    public void add(R request) {
        waiting.add(request);
    }

    /** Puts back a preempted request. */
    public void prepend(R request) {
        waiting.prepend(request);
    }

    public void remove(R request) {
        waiting.remove(request);
        skipped.remove(request);
    }

    /** Returns the requests that were passed over, in the order in which they are looked at. */
    public List<R> skipped() {
        return skipped.inOrder();
    }

    /** Returns whether some request was passed over, in this step or before, of which this holds. */
    public boolean hasSkipped(Predicate<R> predicate) {
        return skippedInThisStep.stream().anyMatch(predicate)
                || skipped.inOrder().stream().anyMatch(predicate);
    }

    /** Returns the requests that wait their turn, in the order in which they are looked at. */
    public List<R> waiting() {
        return waiting.inOrder();
    }

    /** Returns whether a request waits its turn, those passed over aside. */
    public boolean isAnyWaiting() {
        return waiting.peek() != null;
    }

    /** Returns how many requests were passed over. */
    public int numSkipped() {
        return skipped.size();
    }

    public int size() {
        return waiting.size() + skipped.size();
    }
}

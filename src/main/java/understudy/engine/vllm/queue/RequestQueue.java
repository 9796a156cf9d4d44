package understudy.engine.vllm.queue;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Waiting requests in the order in which they may be admitted (vLLM {@code v1/core/sched/request_queue.py}). */
interface RequestQueue<R extends QueuedRequest> {

    /** Returns the request to admit next, or null when the queue is empty. */
    @Nullable R peek();

    /** Removes the request that {@link #peek()} returned. */
    void pop();

    /** Adds a request that has just arrived. */
    void add(R request);

    /** Puts back a request that had left the queue: before all others, where the order allows that. */
    void prepend(R request);

    /** Removes a request from wherever it is; does nothing if it is not here. */
    void remove(R request);

    int size();

    /** Returns all requests in the order in which they would be admitted; takes time in proportion to their number. */
    List<R> inOrder();

    /** Returns whether {@code head}, this queue's head, goes before {@code otherHead}, another queue's head. */
    boolean goesBefore(R head, R otherHead);

    /**
     * Returns the requests whose cached prefixes the queue wants to know before {@link #peek()} is asked in a step;
     * none if its order does not depend on them.
     */
    default List<R> toMatch() {
        return List.of();
    }

    /** Accepts the answer to {@link #toMatch()}: cached tokens of each request, in the same order. */
    default void onMatched(IntList numCachedTokens) {}
}

package understudy.cluster.replica;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.Replica;
import understudy.engine.Request;
import understudy.latency.ApiDelay;
import understudy.runtime.Clock;

/** Entry of requests through the API of a replica, which works on each of them before it reaches the waiting queue. */
final class ApiEntry {
    private final ApiDelay.Queue queue;
    private final Clock clock;
    private final ActorRef<Replica.Command> replica;

    /** Timers of the requests that the API works on, by id. */
    private final Long2ObjectOpenHashMap<Cancellable> due = new Long2ObjectOpenHashMap<>();

    /** Creates the entry of a replica, which is told when a request is to be enqueued. */
    ApiEntry(ApiDelay delay, Clock clock, ActorRef<Replica.Command> replica) {
        queue = new ApiDelay.Queue(delay);
        this.clock = clock;
        this.replica = replica;
    }

    /** Returns how long from now on the API works on a request that has come, whose prompt has so many tokens. */
    long nanos(Replica.AddRequest add, int numPromptTokens) {
        long nowNanos = clock.nowNanos();
        return Math.max(0, queue.add(nowNanos - add.headStartNanos(), numPromptTokens) - nowNanos);
    }

    /** Has a request enqueued after so many nanoseconds, more than 0. */
    void enqueueAfter(long nanos, Request request) {
        due.put(request.id(), clock.tellAfter(nanos, replica, new Replica.Enqueue(request)));
    }

    /**
     * Returns whether a request that is to be enqueued now is still expected: one that was cancelled after its timer had gone
     * off is not.
     */
    boolean enters(long requestId) {
        return due.remove(requestId) != null;
    }

    /** Forgets a request, if it is on its way. */
    void cancel(long requestId) {
        var timer = due.remove(requestId);
        if (timer != null) {
            timer.cancel();
        }
    }

    /** Forgets all requests. */
    void stop() {
        due.values().forEach(Cancellable::cancel);
        due.clear();
    }
}

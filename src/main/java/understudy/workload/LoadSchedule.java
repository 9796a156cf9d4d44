package understudy.workload;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;

/**
 * Schedule of a load generator: the arrivals of a {@link Workload}, read one ahead, and the follow-ups that answers
 * lead to.
 */
public final class LoadSchedule {
    /** A time that never comes. */
    public static final long NEVER = Long.MAX_VALUE;

    private final Workload workload;
    private final PriorityQueue<Request> followUps =
            new PriorityQueue<>(Comparator.comparingLong(Request::arrivalNanos).thenComparingLong(Request::id));
    private final Long2ObjectOpenHashMap<Request> outstanding = new Long2ObjectOpenHashMap<>();
    private @Nullable Request nextArrival;
    private boolean hasStarted;
    private long numSent;

    /** Reads nothing yet: a workload that cannot be read fails the caller that asks for the first request. */
    public LoadSchedule(Workload workload) {
        this.workload = workload;
    }

    private void start() {
        if (!hasStarted) {
            hasStarted = true;
            nextArrival = workload.next();
        }
    }

    /** Returns when the next request is due, or {@link #NEVER}. */
    public long nextNanos() {
        start();
        var followUp = followUps.peek();
        long followUpNanos = followUp == null ? NEVER : followUp.arrivalNanos();
        return nextArrival == null ? followUpNanos : Math.min(followUpNanos, workload.sendNanos(nextArrival));
    }

    /** Returns the next request due at {@code nowNanos}, which counts as sent, or null. */
    public @Nullable Request pollDue(long nowNanos) {
        if (nextNanos() > nowNanos) {
            return null;
        }
        var request = pollFirst();
        outstanding.put(request.id(), request);
        numSent++;
        return request;
    }

    /**
     * Records that a request has ended.
     *
     * @param numOutputTokens length of its answer, 0 if there was none
     * @return whether its session goes on
     */
    public boolean onEnded(long requestId, int numOutputTokens, long atNanos) {
        var ended = outstanding.remove(requestId);
        if (ended == null) {
            throw new IllegalStateException("request " + requestId + " has ended, but is not outstanding");
        }
        boolean goesOn = false;
        var next = workload.followUp(ended, numOutputTokens, atNanos);
        while (next != null) {
            followUps.add(next);
            goesOn |= next.prompt().turn().isConversationalTurn();
            next = workload.anotherFollowUp();
        }
        return goesOn;
    }

    /** Returns how many requests were sent. */
    public long numSent() {
        return numSent;
    }

    /** Returns how many requests the workload has announced, those included that a rejection has made pointless. */
    public long numPlanned() {
        return workload.numPlanned();
    }

    /** Returns how many follow-ups will never be sent, since a turn before them got no answer. */
    public long numAbandoned() {
        return workload.numAbandoned();
    }

    /** Returns whether everything was sent and has ended. */
    public boolean isDone() {
        start();
        return outstanding.isEmpty() && followUps.isEmpty() && nextArrival == null;
    }

    private Request pollFirst() {
        var arrival = nextArrival;
        var followUp = followUps.peek();
        if (arrival != null && (followUp == null || workload.sendNanos(arrival) <= followUp.arrivalNanos())) {
            nextArrival = workload.next();
            return arrival;
        }
        return followUps.remove();
    }
}

package understudy.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import understudy.cluster.RequestEvent;

/** Request that a test has sent to an {@link EmulatedCluster}, and its progress so far. Thread safe. */
public final class EmulatedRequest {
    private final long id;
    private final List<RequestEvent> events = new CopyOnWriteArrayList<>();
    private final CompletableFuture<RequestEvent> end = new CompletableFuture<>();

    EmulatedRequest(long id) {
        this.id = id;
    }

    void onEvent(RequestEvent event) {
        events.add(event);
        boolean goesOn = event instanceof RequestEvent.Admitted || event instanceof RequestEvent.Token;
        if (!goesOn) {
            end.complete(event);
        }
    }

    public long id() {
        return id;
    }

    /** Returns all events that the sender has got, in order. */
    public List<RequestEvent> events() {
        return List.copyOf(events);
    }

    /** Returns the virtual times at which the tokens came, in nanoseconds. */
    public List<Long> tokenNanos() {
        return events.stream()
                .filter(RequestEvent.Token.class::isInstance)
                .map(event -> ((RequestEvent.Token) event).atNanos())
                .toList();
    }

    /** Returns the replica that the router has chosen last, or -1 before that. */
    public int replicaIndex() {
        int replicaIndex = -1;
        for (var event : events) {
            if (event instanceof RequestEvent.Admitted admitted) {
                replicaIndex = admitted.replicaIndex();
            }
        }
        return replicaIndex;
    }

    public boolean isEnded() {
        return end.isDone();
    }

    /** Returns the complete answer's figures; throws {@link AssertionError} if there is none by now. */
    public RequestEvent.Finished finished() {
        return ended(RequestEvent.Finished.class);
    }

    /** Returns why the answer broke off; throws {@link AssertionError} if it has not by now. */
    public RequestEvent.Failed failed() {
        return ended(RequestEvent.Failed.class);
    }

    /** Returns why the request was turned away; throws {@link AssertionError} if it was not by now. */
    public RequestEvent.Rejected rejected() {
        return ended(RequestEvent.Rejected.class);
    }

    /** Waits for the end, for so much wall time at most; for clusters whose clock runs by itself. */
    public RequestEvent await(Duration timeout) throws InterruptedException, TimeoutException {
        try {
            return end.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private <T extends RequestEvent> T ended(Class<T> type) {
        var event = end.getNow(null);
        if (!type.isInstance(event)) {
            throw new AssertionError("request " + id + ": expected " + type.getSimpleName() + ", but heard " + events);
        }
        return type.cast(event);
    }
}

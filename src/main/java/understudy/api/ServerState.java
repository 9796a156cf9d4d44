package understudy.api;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** How far a server has come in its life, and the calls in flight. Thread-safe. */
public final class ServerState {
    private final Set<Call> inFlight = ConcurrentHashMap.newKeySet();
    private volatile Phase phase = Phase.STARTING;

    /** From start to end. */
    public enum Phase {
        /** Not listening yet, or not able to serve. */
        STARTING,
        /** Serving. */
        READY,
        /** No longer ready, but still serving whoever has not noticed. */
        LEAVING,
        /** Serving what was begun, refusing anything new. */
        DRAINING
    }

    /** Returns the phase. */
    public Phase phase() {
        return phase;
    }

    void enter(Phase next) {
        phase = next;
    }

    /** Returns how many calls are being answered. */
    public int numInFlight() {
        return inFlight.size();
    }

    /** Takes in a call; returns false, and forgets it, if the server is draining: whoever waits may not wait for this one. */
    boolean add(Call call) {
        inFlight.add(call);
        call.closed().whenComplete((done, failure) -> inFlight.remove(call));
        // After it was added: either it is refused here, or the one who drains sees it.
        boolean isLetIn = phase != Phase.DRAINING;
        if (!isLetIn) {
            call.close();
        }
        return isLetIn;
    }

    /** Completes when all calls that are in flight now are closed. */
    CompletionStage<Void> whenIdle() {
        return CompletableFuture.allOf(inFlight.stream()
                .map(call -> call.closed().toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Ends all calls in flight with an error. */
    void failAll(ApiException failure) {
        inFlight.forEach(call -> call.fail(failure));
    }
}

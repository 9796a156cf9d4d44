package understudy.api.call;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import understudy.api.http.ApiException;

/** Phase of a server's life, and the calls in flight. Thread-safe. */
public final class ServerState {
    private final Set<Call> inFlight = ConcurrentHashMap.newKeySet();
    private volatile Phase phase = Phase.STARTING;

    /** Phases of a server's life, in order. */
    public enum Phase {
        /** Not listening yet, or not able to serve. */
        STARTING,
        /** Serving. */
        READY,
        /** No longer ready, but still serving clients that have not noticed. */
        LEAVING,
        /** Serving what was begun, refusing anything new. */
        DRAINING,
        /** The emulation has failed: nothing can be served any more. */
        FAILED
    }

    /** Returns the phase. */
    public Phase phase() {
        return phase;
    }

    /** Enters a phase; there is no way back from a failure. */
    public synchronized void enter(Phase next) {
        if (phase != Phase.FAILED) {
            phase = next;
        }
    }

    /** Returns why no call is let in, or empty while calls are. */
    public Optional<ApiException> refusal() {
        return switch (phase) {
            case STARTING, READY, LEAVING -> Optional.empty();
            case DRAINING -> Optional.of(ApiException.shuttingDown());
            case FAILED -> Optional.of(ApiException.failed());
        };
    }

    /** Returns how many calls are being answered. */
    public int numInFlight() {
        return inFlight.size();
    }

    /**
     * Takes in a call; returns false, and forgets it, if the server takes no more: callers that wait for the end may
     * not wait for this one.
     */
    boolean add(Call call) {
        inFlight.add(call);
        call.closed().whenComplete((done, failure) -> inFlight.remove(call));
        // After it was added: either it is refused here, or the one who drains sees it.
        boolean isLetIn = refusal().isEmpty();
        if (!isLetIn) {
            call.close();
        }
        return isLetIn;
    }

    /** Completes when all calls that are in flight now are closed. */
    public CompletionStage<Void> whenIdle() {
        return CompletableFuture.allOf(inFlight.stream()
                .map(call -> call.closed().toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Has the engine end calls as they are, with the reason {@code abort}.
     *
     * @param isMeant tells by a call's name
     * @return how many calls that were
     */
    public int abort(Predicate<String> isMeant) {
        int count = 0;
        for (var call : inFlight) {
            count += call.abort(isMeant) ? 1 : 0;
        }
        return count;
    }

    /** Ends all calls in flight with an error. */
    public void failAll(ApiException failure) {
        inFlight.forEach(call -> call.fail(failure));
    }
}

package understudy.api.call;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import understudy.api.http.ApiException;
import understudy.api.http.Arrival;
import understudy.api.http.ClientConnection;
import understudy.cluster.RequestEvent;

/** Call of the API, with all the engine requests that it causes. */
public final class Call implements ClientConnection.Exchange {
    private final ClusterLink link;
    private final Consumer<CallEvent> sink;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final AtomicBoolean isCancelled = new AtomicBoolean();
    private volatile List<Generation> generations = List.of();
    private int numEnded;

    /**
     * Creates a call.
     *
     * @param sink gets its events, on one thread at a time
     */
    public Call(ClusterLink link, Consumer<CallEvent> sink) {
        this.link = link;
        this.sink = sink;
    }

    /** Completes when all answers have, or are no longer wanted. */
    CompletionStage<Void> done() {
        return done;
    }

    /** Completes when the response has been written, too, as far as that is known. */
    @Override
    public CompletionStage<Void> closed() {
        return closed;
    }

    /** Records the end of reading; aborts unfinished requests. */
    @Override
    public void close() {
        cancel();
        closed.complete(null);
    }

    /** Sends the requests, unless the client has disconnected already, or the server lets no more in. */
    public void start(List<Generation.Spec> specs, Arrival arrival) {
        generations = specs.stream()
                .map(spec -> new Generation(link.nextId(), spec, arrival))
                .toList();
        if (isCancelled.get()) {
            return;
        }
        var refusal = link.admit(generations);
        if (refusal != null) {
            fail(refusal);
            return;
        }
        generations.forEach(generation -> link.submit(generation, this));
        if (isCancelled.get()) {
            // Perhaps before all were sent. To give up what was given up, or has ended, changes nothing.
            generations.forEach(generation -> link.abort(generation.id()));
        }
    }

    /** Aborts the requests that are not done yet. */
    void cancel() {
        if (!done.isDone() && isCancelled.compareAndSet(false, true)) {
            generations.forEach(generation -> link.abort(generation.id()));
            done.complete(null);
        }
    }

    /** Has the engine end the answers as they are, if the call is meant; returns whether it is. */
    boolean abort(Predicate<String> isMeant) {
        var all = generations;
        boolean is = !all.isEmpty()
                && !done.isDone()
                && isMeant.test(all.get(0).spec().callName());
        if (is) {
            all.forEach(generation -> link.abort(generation.id()));
        }
        return is;
    }

    /** Aborts the requests that are not done yet, and reports the failure. */
    void fail(ApiException failure) {
        emit(new CallEvent.Failed(failure));
    }

    /** Takes an event of one of the call's requests, on one thread at a time. */
    void on(Generation generation, RequestEvent event) {
        if (event instanceof RequestEvent.Token token) {
            onToken(generation, token);
        } else if (event instanceof RequestEvent.Admitted admitted) {
            generation.onAdmitted(admitted);
            emit(CallEvent.Admitted.NOW);
        } else if (event instanceof RequestEvent.Finished finished) {
            emit(generation, generation.onFinished(finished));
        } else if (event instanceof RequestEvent.Rejected rejected) {
            generation.onFailed();
            emit(new CallEvent.Failed(refusal(rejected)));
        } else if (event instanceof RequestEvent.Failed failed) {
            generation.onFailed();
            emit(end(failed));
        }
    }

    /** Text that a stop string completes is complete before the engine knows, which is to be told. */
    private void onToken(Generation generation, RequestEvent.Token token) {
        if (generation.isStopped()) {
            return;
        }
        var delta = generation.onToken(token);
        if (delta != null) {
            emit(generation, delta);
        } else if (generation.isStopped()) {
            link.abort(generation.id());
        }
    }

    private void emit(Generation generation, Delta delta) {
        boolean isLast = delta.ending() != null && ++numEnded == generations.size();
        emit(new CallEvent.Piece(generation, delta, isLast));
    }

    private void emit(CallEvent event) {
        if (done.isDone() || isCancelled.get()) {
            return;
        }
        sink.accept(event);
        if (event instanceof CallEvent.Piece piece) {
            if (piece.isLast()) {
                done.complete(null);
            }
        } else if (event != CallEvent.Admitted.NOW) {
            cancel();
        }
    }

    /**
     * Returns the error of a rejection: 429 if it is due to the load, so that clients try again, and 400 if it is
     * final.
     */
    private static ApiException refusal(RequestEvent.Rejected rejected) {
        return rejected.outcome().isLoadShed()
                ? new ApiException(429, "RateLimitError", rejected.reason(), null)
                : ApiException.badRequest(rejected.reason(), null);
    }

    private static CallEvent end(RequestEvent.Failed failed) {
        String reason = failed.reason();
        return switch (failed.cause()) {
            case NO_REPLICA, OVERLOAD ->
                new CallEvent.Failed(new ApiException(503, "ServiceUnavailable", reason, null));
            case INJECTED_ERROR -> new CallEvent.Failed(ApiException.ofStatus(failed.status(), reason));
            case KV_CACHE_SHRUNK, KV_LOAD_FAILED, PREFILL_FAILED, OUT_OF_MEMORY, LOST ->
                new CallEvent.Failed(internal(reason));
            case CRASH, CUT -> new CallEvent.Cut(internal(reason), false);
            case RESET -> new CallEvent.Cut(internal(reason), true);
        };
    }

    private static ApiException internal(String reason) {
        return new ApiException(500, "InternalServerError", reason, null);
    }
}

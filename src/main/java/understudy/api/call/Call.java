package understudy.api.call;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import understudy.api.http.ApiException;
import understudy.api.http.Arrival;
import understudy.api.http.ClientConnection;
import understudy.cluster.RequestEvent;

/** Call of the API, with all the engine requests that it causes. */
public final class Call implements Generation.Listener, ClientConnection.Exchange {
    private final ClusterLink cluster;
    private final Listener listener;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final AtomicBoolean isCancelled = new AtomicBoolean();
    private volatile List<Generation> generations = List.of();
    private int numEnded;

    /** Listener to the answers, called on one thread at a time. */
    public interface Listener {
        void onDelta(Generation generation, Delta delta);

        /** The call ends with an error; no delta follows. */
        void onFailed(ApiException failure);

        /** A replica has the call, or one of its requests; only if it streams. */
        default void onAdmitted() {}

        /**
         * The call is cut as if its server had died; no delta follows.
         *
         * @param isReset whether the connection is to be reset, rather than closed
         */
        default void onCut(ApiException failure, boolean isReset) {
            onFailed(failure);
        }
    }

    public Call(ClusterLink cluster, Listener listener) {
        this.cluster = cluster;
        this.listener = listener;
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

    /** Records the end of reading; aborts what is not done yet. */
    @Override
    public void close() {
        cancel();
        closed.complete(null);
    }

    /** Sends the requests, unless the client has disconnected already. */
    public void start(List<Generation.Spec> specs, Arrival arrival) {
        generations = specs.stream()
                .map(spec -> new Generation(cluster.nextId(), spec, arrival, this))
                .toList();
        if (isCancelled.get()) {
            return;
        }
        generations.forEach(cluster::submit);
        if (isCancelled.get()) {
            // Perhaps before all were sent. To give up what was given up, or has ended, changes nothing.
            generations.forEach(generation -> cluster.abort(generation.id()));
        }
    }

    /** Gives up what is not done yet. */
    void cancel() {
        if (!done.isDone() && isCancelled.compareAndSet(false, true)) {
            generations.forEach(generation -> cluster.abort(generation.id()));
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
            all.forEach(generation -> cluster.abort(generation.id()));
        }
        return is;
    }

    /** Gives up what is not done yet, and says why. */
    void fail(ApiException failure) {
        if (!done.isDone() && !isCancelled.get()) {
            listener.onFailed(failure);
            cancel();
        }
    }

    @Override
    public void onDelta(Generation generation, Delta delta) {
        if (isCancelled.get()) {
            return;
        }
        listener.onDelta(generation, delta);
        if (delta.ending() != null && ++numEnded == generations.size()) {
            done.complete(null);
        }
    }

    @Override
    public void onRejected(String reason) {
        fail(ApiException.badRequest(reason, null));
    }

    @Override
    public void onLoadShed(String reason) {
        fail(new ApiException(429, "RateLimitError", reason, null));
    }

    @Override
    public void onAdmitted() {
        listener.onAdmitted();
    }

    @Override
    public void onBroken(RequestEvent.Failed failed) {
        switch (failed.cause()) {
            case NO_REPLICA, OVERLOAD -> fail(new ApiException(503, "ServiceUnavailable", failed.reason(), null));
            case INJECTED_ERROR -> fail(ApiException.ofStatus(failed.status(), failed.reason()));
            case KV_CACHE_SHRUNK, KV_LOAD_FAILED, PREFILL_FAILED, OUT_OF_MEMORY, LOST -> fail(internal(failed));
            case CRASH, CUT, RESET -> {
                if (!done.isDone() && !isCancelled.get()) {
                    listener.onCut(internal(failed), failed.cause() == RequestEvent.FailureCause.RESET);
                    cancel();
                }
            }
        }
    }

    private static ApiException internal(RequestEvent.Failed failed) {
        return new ApiException(500, "InternalServerError", failed.reason(), null);
    }

    @Override
    public void onStopped(Generation generation) {
        cluster.abort(generation.id());
    }
}

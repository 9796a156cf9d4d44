package understudy.cluster.replica;

import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.engine.EngineCore;
import understudy.engine.EngineRequest;
import understudy.engine.Request;
import understudy.engine.StepResult;
import understudy.faults.CrashRetries;
import understudy.report.RequestRecord;

/**
 * Ends requests of a replica before their answer is complete; never while a step is being planned, unless it crashes.
 */
final class RequestAborter {
    private final ReplicaParts parts;
    private final EngineCore engine;
    private final ClientTable clients;
    private final ReplicaEvents events;

    RequestAborter(ReplicaParts parts) {
        this.parts = parts;
        engine = parts.engine();
        clients = parts.clients();
        events = parts.events();
    }

    /** Returns the requests whose answers are to break off after the token that a step has brought. */
    List<EngineRequest> toCut(StepResult result) {
        return clients.toCut(result);
    }

    /**
     * Ends an answer after the token that a step has brought, and returns its record; its blocks are still to be freed.
     */
    RequestRecord cut(EngineRequest request, long atNanos) {
        engine.engine().abort(request.request().id());
        String reason = "the answer was cut after " + request.numAnswerTokens() + " tokens";
        var fault = clients.submit(request.request().id()).fault();
        var cause = fault.isReset() ? RequestEvent.FailureCause.RESET : RequestEvent.FailureCause.CUT;
        return clients.fail(request.request(), request, cause, reason, atNanos);
    }

    /**
     * Fails all requests, because the process has died, but for those that go back to the router; their blocks are not
     * freed.
     */
    void failAll(CrashRetries retries, ActorRef<Router.Command> router, long atNanos) {
        if (engine.isPlanning()) {
            parts.counters().onPreempted(engine.engine().plan().preempted().size());
        }
        for (long id : clients.requestIds()) {
            var request = clients.request(id);
            var running = engine.engine().find(id);
            int numTokens = running == null ? request.progress().numTokens() : running.numAnswerTokens();
            if (clients.submit(id).mayRetry(retries, numTokens)) {
                router.tell(new Router.Reroute(clients.withdraw(request, running)));
            } else {
                events.requestEnded(clients.fail(
                        request, running, RequestEvent.FailureCause.CRASH, "the replica has crashed", atNanos));
            }
        }
    }

    /** Fails all requests that the engine would turn away if they came now. */
    void failWhatDoesNotFit(long atNanos) {
        for (long id : clients.requestIds()) {
            var request = clients.request(id);
            var refusal = engine.refusal(request);
            if (refusal.isPresent()) {
                breakOff(request, RequestEvent.FailureCause.KV_CACHE_SHRUNK, refusal.get(), atNanos);
            }
        }
    }

    /** Fails a request, if it is here, whose KV could not be loaded. */
    void failLoad(long requestId, String reason, long atNanos) {
        if (clients.contains(requestId)) {
            breakOff(clients.request(requestId), RequestEvent.FailureCause.KV_LOAD_FAILED, reason, atNanos);
        }
    }

    /** Fails the requests that the engine has ended by itself. */
    void failGivenUp(long atNanos) {
        for (var ended : engine.engine().takeGivenUp()) {
            events.requestEnded(clients.fail(
                    ended.request().request(),
                    ended.request(),
                    ended.isOverload() ? RequestEvent.FailureCause.OVERLOAD : RequestEvent.FailureCause.OUT_OF_MEMORY,
                    ended.reason(),
                    atNanos));
        }
    }

    /** Fails the requests that the engine has forgotten, since their senders wait no longer; returns whether there are any. */
    boolean failLost(long atNanos) {
        var lost = engine.engine().lost();
        for (var request : lost) {
            breakOff(
                    request.request(),
                    RequestEvent.FailureCause.LOST,
                    engine.engine().whyLost(),
                    atNanos);
        }
        return !lost.isEmpty();
    }

    /** Aborts a request for its sender; returns whether it was here. */
    boolean abort(long requestId, long atNanos) {
        if (!clients.contains(requestId)) {
            return false;
        }
        var request = clients.request(requestId);
        var progress = takeOut(request);
        events.requestEnded(clients.abort(request, progress, atNanos));
        return true;
    }

    /** Sends a request back to the router, if it is here and has no token; returns whether it did. */
    boolean withdraw(long requestId, ActorRef<Router.Command> router) {
        var running = engine.engine().find(requestId);
        if (!clients.contains(requestId) || (running != null && running.numOutputTokens() > 0)) {
            return false;
        }
        var request = clients.request(requestId);
        router.tell(new Router.Reroute(clients.withdraw(request, takeOut(request))));
        return true;
    }

    /** Aborts all requests for their senders. */
    void abortAll(long atNanos) {
        for (long id : clients.requestIds()) {
            abort(id, atNanos);
        }
    }

    private void breakOff(Request request, RequestEvent.FailureCause cause, String reason, long atNanos) {
        var progress = takeOut(request);
        events.requestEnded(clients.fail(request, progress, cause, reason, atNanos));
    }

    /** Removes a request from the engine, and returns its progress; null if it had not reached the queue. */
    private @Nullable EngineRequest takeOut(Request request) {
        // It may still be on its way to the waiting queue.
        parts.api().cancel(request.id());
        engine.onTakenOut(request.id());
        var progress = engine.engine().abort(request.id());
        if (progress != null) {
            // At once, since the next request in the queue may get the same handle.
            parts.free(progress);
        } else {
            parts.forgetKvOf(clients.submit(request.id()));
        }
        return progress;
    }
}

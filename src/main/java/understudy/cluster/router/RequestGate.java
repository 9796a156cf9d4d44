package understudy.cluster.router;

import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.MetricsCollector;
import understudy.cluster.RequestEvent;
import understudy.engine.FinishReason;
import understudy.engine.Request;
import understudy.faults.Fault;
import understudy.faults.FaultSampler;
import understudy.faults.RequestFault;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.runtime.Clock;

/**
 * Gate before a cluster's replicas: applies injected faults to requests, and rejects those that must not go on.
 */
final class RequestGate {
    private final Clock clock;
    private final FaultSampler faults;
    private final ActorRef<MetricsCollector.Command> metrics;
    private final ClusterEvent.@Nullable Subscriber subscriber;

    /**
     * Request before it is sent to a replica.
     *
     * @param fault fault to inject into it; faults drawn on its way to a replica are added, once
     * @param numRetries how often it has come back from a replica
     */
    record Arrival(
            Request request,
            ActorRef<? super RequestEvent> replyTo,
            boolean isStreaming,
            RequestFault fault,
            int numRetries) {

        boolean isRerouted() {
            return numRetries > 0;
        }

        Arrival with(Request other) {
            return new Arrival(other, replyTo, isStreaming, fault, numRetries);
        }
    }

    RequestGate(
            Clock clock,
            FaultSampler faults,
            ActorRef<MetricsCollector.Command> metrics,
            ClusterEvent.@Nullable Subscriber subscriber) {
        this.clock = clock;
        this.faults = faults;
        this.metrics = metrics;
        this.subscriber = subscriber;
    }

    void set(Fault.OfRequests fault) {
        faults.set(fault);
    }

    /** Ends the faults of a replica that goes down. */
    void clear(int replicaIndex) {
        faults.clear(replicaIndex);
    }

    /** Draws the fault of the next request, which goes to this replica. */
    RequestFault next(int replicaIndex) {
        return faults.next(replicaIndex);
    }

    /** Turns away a request that no replica can take. */
    void failUnserved(Request request, ActorRef<? super RequestEvent> replyTo, String reason) {
        fail(request, replyTo, RequestEvent.FailureCause.NO_REPLICA, reason, RequestRecord.NO_REPLICA, 0);
    }

    /** Turns away a request because of a fault. */
    void failInjected(Arrival arrival, RequestFault fault, int replicaIndex) {
        var cause = RequestEvent.FailureCause.INJECTED_ERROR;
        String reason = "this error was asked for";
        fail(arrival.request, arrival.replyTo, cause, reason, replicaIndex, fault.failStatus());
    }

    /** Fails a request whose prompt another replica was to compute. */
    void failPrefill(Request request, ActorRef<? super RequestEvent> replyTo, RequestEvent.Failed failed) {
        fail(
                request,
                replyTo,
                failed.cause(),
                "prefill: " + failed.reason(),
                failed.timing().replicaIndex(),
                failed.status());
    }

    /** Turns away a request because of the load; one that has tokens fails, since an earlier replica has crashed. */
    void reject(Arrival arrival, Outcome outcome, String reason) {
        var request = arrival.request;
        var replyTo = arrival.replyTo;
        if (request.earlier() != null) {
            fail(request, replyTo, RequestEvent.FailureCause.CRASH, reason, RequestRecord.NO_REPLICA, 0);
            return;
        }
        replyTo.tell(new RequestEvent.Rejected(request.id(), outcome, reason, clock.nowNanos()));
        ended(request, outcome);
    }

    /** Ends a request that its sender has given up before it reached a replica, or another one. */
    void abort(Request request, ActorRef<? super RequestEvent> replyTo) {
        var progress = request.progress();
        replyTo.tell(new RequestEvent.Finished(
                request.id(),
                FinishReason.ABORT,
                progress.numCachedTokens(),
                progress.numTokens(),
                clock.nowNanos(),
                RequestEvent.Timing.of(progress, RequestRecord.NO_REPLICA)));
        ended(request, Outcome.ABORTED);
    }

    private void fail(
            Request request,
            ActorRef<? super RequestEvent> replyTo,
            RequestEvent.FailureCause cause,
            String reason,
            int replicaIndex,
            int status) {
        long nowNanos = clock.nowNanos();
        var progress = request.progress();
        replyTo.tell(new RequestEvent.Failed(
                request.id(),
                cause,
                reason,
                progress.numCachedTokens(),
                progress.numTokens(),
                nowNanos,
                RequestEvent.Timing.of(progress, replicaIndex),
                status));
        ended(request, Outcome.FAILED);
    }

    private void ended(Request request, Outcome outcome) {
        var event = new ClusterEvent.RequestEnded(
                RequestRecord.ended(request, request.progress(), RequestRecord.NO_REPLICA, outcome, clock.nowNanos()));
        metrics.tell(new MetricsCollector.Happened(event));
        if (subscriber != null) {
            subscriber.tell(event);
        }
    }
}

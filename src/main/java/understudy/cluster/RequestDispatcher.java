package understudy.cluster;

import java.util.List;
import java.util.OptionalInt;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.runtime.Clock;

/** Dispatch of requests, through the gate, to the replicas that the routing policy chooses. */
final class RequestDispatcher {
    private final Clock clock;
    private final ClusterView view;
    private final List<ActorRef<Replica.Command>> replicas;
    private final RequestGate gate;
    private final RoutingPolicy policy;
    private final boolean keepsAccount;
    private final ClusterEvent.@Nullable Subscriber subscriber;

    /**
     * @param replicas by index; the router's own list, which grows with the cluster
     * @param keepsAccount whether the policy wants to know how many tokens it has sent where
     */
    RequestDispatcher(
            Clock clock,
            ClusterView view,
            List<ActorRef<Replica.Command>> replicas,
            RequestGate gate,
            RoutingPolicy policy,
            boolean keepsAccount,
            ClusterEvent.@Nullable Subscriber subscriber) {
        this.clock = clock;
        this.view = view;
        this.replicas = replicas;
        this.gate = gate;
        this.policy = policy;
        this.keepsAccount = keepsAccount;
        this.subscriber = subscriber;
    }

    void submit(Router.Submit submit) {
        var request = submit.request();
        var asked = submit.replica();
        if (!hasReplica(request, submit.replyTo(), asked)) {
            return;
        }
        int chosen = asked.isPresent() ? asked.getAsInt() : choose(request);
        var fault = submit.fault().plus(gate.next(chosen));
        long headStart = clock.nowNanos() - request.arrivalNanos();
        dispatch(
                new Replica.AddRequest(
                        request, submit.replyTo(), submit.isStreaming(), asked.isPresent(), 0, fault, headStart),
                chosen);
    }

    /** Sends a request on that comes back from a replica; it keeps its fault, and gets no other. */
    void reroute(Replica.AddRequest back) {
        if (hasReplica(back.request(), back.replyTo(), OptionalInt.empty())) {
            dispatch(back.again(), choose(back.request()));
        }
    }

    private int choose(Request request) {
        view.setNow(clock.nowNanos());
        int replica = policy.choose(request, view);
        if (subscriber != null) {
            subscriber.tell(new ClusterEvent.Routed(
                    request.id(), replica, clock.nowNanos(), view.readyReplicas(), policy.explain(view)));
        }
        return replica;
    }

    private boolean hasReplica(Request request, ActorRef<? super RequestEvent> replyTo, OptionalInt asked) {
        if (asked.isEmpty() && view.numReady() == 0) {
            gate.failUnserved(request, replyTo, "no replica takes requests");
            return false;
        }
        int replica = asked.orElseGet(view::firstReady);
        if (replica >= replicas.size() || !view.isReady(replica)) {
            gate.failUnserved(request, replyTo, "replica " + replica + " takes no requests");
            return false;
        }
        return true;
    }

    private void dispatch(Replica.AddRequest request, int chosen) {
        if (request.fault().fails()) {
            gate.failInjected(request.request(), request.replyTo(), chosen);
            return;
        }
        view.onDispatched(chosen);
        if (keepsAccount) {
            view.onSent(chosen, request.request(), policy.cachedTokens(chosen));
        }
        if (request.isStreaming()) {
            int malformedAtToken = request.fault().malformedAtToken();
            request.replyTo().tell(new RequestEvent.Admitted(request.request().id(), chosen, malformedAtToken));
        }
        replicas.get(chosen).tell(request);
    }
}

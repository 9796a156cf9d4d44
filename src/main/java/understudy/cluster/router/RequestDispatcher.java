package understudy.cluster.router;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.engine.FinishReason;
import understudy.engine.Request;
import understudy.faults.RequestFault;
import understudy.kvcache.connector.KvTransferParams;
import understudy.report.Outcome;
import understudy.routing.ClusterView;
import understudy.routing.Lanes;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;
import understudy.routing.admission.AdmissionControl;
import understudy.routing.admission.SlowReplicas;
import understudy.runtime.Clock;

/**
 * Dispatch of requests, through admission and gate, to the replicas that the routing policy chooses. Some wait here until
 * the cluster can take them.
 */
final class RequestDispatcher {
    private final Clock clock;
    private final ActorRef<Router.Command> router;
    private final Lanes lanes;
    private final Lanes.Lane lane;
    private final ClusterView view;
    private final List<ActorRef<Replica.Command>> replicas;
    private final RequestGate gate;
    private final RoutingPolicy policy;
    private final boolean keepsAccount;
    private final int minPeerFetchTokens;
    private final AdmissionControl<RequestGate.Arrival> admission;
    private final SlowReplicas slowReplicas;
    private final @Nullable PrefillLegs prefillLegs;

    /** Whether the replica that computes a prompt and the one that answers get the request at the same time. */
    private final boolean arePaired;

    /** Whether engines push KV, also to other processes. */
    private final boolean isPushed;

    private final ClusterEvent.@Nullable Subscriber subscriber;
    private boolean isExpiryDue;
    private int toldHeld;

    /** @param replicas by index; the router's own list, which grows with the cluster */
    RequestDispatcher(
            Clock clock,
            ActorRef<Router.Command> router,
            ClusterSpec spec,
            Lanes lanes,
            List<ActorRef<Replica.Command>> replicas,
            RequestGate gate,
            SlowReplicas slowReplicas,
            ActorRef<RequestEvent> prefillEvents,
            ClusterEvent.@Nullable Subscriber subscriber) {
        this.clock = clock;
        this.router = router;
        this.lanes = lanes;
        lane = lanes.answering();
        view = lane.view();
        policy = lane.policy();
        this.replicas = replicas;
        this.gate = gate;
        keepsAccount = spec.router().wants(Signal.PROGRESS);
        minPeerFetchTokens = spec.router().minPeerFetchTokens();
        admission = new AdmissionControl<>(spec.admission());
        this.slowReplicas = slowReplicas;
        var disaggregation = spec.router().disaggregation();
        prefillLegs = disaggregation == null
                ? null
                : new PrefillLegs(
                        disaggregation,
                        Objects.requireNonNull(lanes.prefilling()),
                        replicas,
                        gate,
                        prefillEvents,
                        keepsAccount);
        isPushed = spec.replicas().get(0).kvCache().isPushed();
        arePaired = prefillLegs != null && isPushed;
        this.subscriber = subscriber;
    }

    void submit(Router.Submit submit) {
        var arrival =
                new RequestGate.Arrival(submit.request(), submit.replyTo(), submit.isStreaming(), submit.fault(), 0);
        if (submit.replica().isPresent()) {
            sendTo(submit.replica().getAsInt(), arrival);
        } else {
            arrive(arrival);
        }
    }

    /** Sends a request to the replica that its sender has asked for, without admission, and even if it is ejected. */
    private void sendTo(int replica, RequestGate.Arrival arrival) {
        if (arePaired && !hasRoom(arrival.request())) {
            String reason = "replica " + replica + " has a role, and takes requests only with another one";
            gate.failUnserved(arrival.request(), arrival.replyTo(), reason);
        } else if (lanes.of(replica).view().takesRequests(replica)) {
            dispatch(arrival, replica, true, null);
        } else {
            gate.failUnserved(arrival.request(), arrival.replyTo(), "replica " + replica + " takes no requests");
        }
    }

    /** Returns whether a request has its other half in another process, so that it can be served in one place only. */
    private boolean hasRoom(Request request) {
        return isPushed && request.kvTransfer() != null && request.kvTransfer().isOutside();
    }

    /** Sends a request on that comes back from a replica; it keeps its fault, and gets no other. */
    void reroute(Replica.AddRequest back) {
        if (back.isCountedElsewhere()) {
            // The other replica has the request, too: it is sent again from there.
            endPaired(back.request().id(), new Replica.Withdraw(back.request().id()));
            return;
        }
        var leg = prefillLegs == null || arePaired
                ? null
                : prefillLegs.end(back.request().id());
        if (leg != null) {
            retry(leg.arrival());
            return;
        }
        view.onEnded(back.request().id());
        var request = back.request().withoutRemoteKv();
        var rest =
                new RequestGate.Arrival(request, back.replyTo(), back.isStreaming(), back.fault(), back.numRetries());
        if (prefillLegs == null || !arePaired || !prefillLegs.retryAfter(rest)) {
            retry(rest);
        }
    }

    /**
     * A prompt has ended, or failed, whose request another replica has had from the beginning.
     *
     * @param word to that replica, or null if all is well
     */
    private void endPaired(long requestId, Replica.@Nullable Command word) {
        var leg = Objects.requireNonNull(prefillLegs).end(requestId);
        if (leg == null) {
            return;
        }
        if (word != null) {
            replicas.get(leg.decoder()).tell(word);
        }
        var retry = leg.retry();
        if (retry != null && leg.isAborted()) {
            gate.abort(retry.request(), retry.replyTo());
        } else if (retry != null) {
            retry(retry);
        }
    }

    private void retry(RequestGate.Arrival arrival) {
        arrive(new RequestGate.Arrival(
                arrival.request(),
                arrival.replyTo(),
                arrival.isStreaming(),
                arrival.fault(),
                arrival.numRetries() + 1));
    }

    private void arrive(RequestGate.Arrival arrival) {
        look();
        switch (admission.arrive(arrival.request(), arrival, arrival.isRerouted(), view)) {
            case ADMITTED -> route(arrival);
            case WAITS -> {
                awaitExpiry();
                tellHeld();
                routeWaiting();
            }
            case RATE_LIMITED -> gate.reject(arrival, Outcome.RATE_LIMITED, "the rate limit is exceeded");
            case QUEUE_FULL ->
                gate.reject(arrival, Outcome.QUEUE_FULL, "the cluster is saturated, and no more requests may wait");
            case NO_REPLICA -> gate.failUnserved(arrival.request(), arrival.replyTo(), "no replica takes requests");
        }
    }

    /** Routes waiting requests, as far as the cluster can take them now. */
    void routeWaiting() {
        if (admission.numWaiting() == 0) {
            return;
        }
        look();
        for (var next = admission.next(view); next != null; next = admission.next(view)) {
            route(next);
        }
        tellHeld();
    }

    private void tellHeld() {
        if (subscriber != null && toldHeld != admission.numWaiting()) {
            toldHeld = admission.numWaiting();
            subscriber.tell(new ClusterEvent.RequestsHeld(clock.nowNanos(), toldHeld));
        }
    }

    /** Brings the view up to now. */
    private void look() {
        view.setNow(clock.nowNanos());
        slowReplicas.look(view);
    }

    /** Turns away requests that have waited too long. */
    void onExpiryDue() {
        isExpiryDue = false;
        for (var expired : admission.expired(clock.nowNanos())) {
            gate.reject(expired, Outcome.QUEUE_TIMEOUT, "the request has waited too long for a replica");
        }
        awaitExpiry();
        tellHeld();
        routeWaiting();
    }

    private void awaitExpiry() {
        if (!isExpiryDue && admission.numWaiting() > 0) {
            isExpiryDue = true;
            long delayNanos = admission.nextExpiryNanos() - clock.nowNanos();
            clock.tellAfter(delayNanos, router, Router.WaitExpired.NOW);
        }
    }

    /** Ends a request that waits here and that its sender has given up; returns whether it was here. */
    boolean abort(long requestId) {
        if (prefillLegs != null) {
            prefillLegs.abort(requestId);
        }
        var waiting = admission.remove(requestId);
        if (waiting != null) {
            gate.abort(waiting.request(), waiting.replyTo());
            tellHeld();
        }
        return waiting != null;
    }

    /** Returns how many requests wait here. */
    int numWaiting() {
        return admission.numWaiting() + (prefillLegs == null ? 0 : prefillLegs.numToRetry());
    }

    private void route(RequestGate.Arrival arrival) {
        var request = arrival.request();
        int chosen = policy.choose(request, view);
        // Without an estimate this is NaN, which is above nothing.
        if (policy.estimatedTtftNanos(chosen) > admission.ttftLimitNanos(request.priority())) {
            gate.reject(arrival, Outcome.TTFT_LIMIT, "the first token would come too late");
            return;
        }
        int numUncached = request.prompt().length() - policy.cachedTokens(chosen);
        if (subscriber != null) {
            boolean isExplained = subscriber.wants(ClusterEvent.Detail.CHOICES);
            subscriber.tell(new ClusterEvent.Routed(
                    request.id(),
                    chosen,
                    clock.nowNanos(),
                    numUncached,
                    isExplained ? view.readyReplicas() : IntList.of(),
                    isExplained ? policy.explain(view) : RoutingScores.NONE));
        }
        if (prefillLegs != null && arePaired) {
            dispatchPair(prefillLegs, arrival, chosen);
        } else if (request.kvTransfer() != null) {
            dispatch(arrival, chosen, hasRoom(request), null); // a proxy outside has decided who computes the prompt
        } else if (prefillLegs != null && prefillLegs.areWanted(numUncached)) {
            prefillLegs.begin(arrival, chosen, clock.nowNanos(), null);
        } else {
            fetchOrDispatch(arrival, chosen);
        }
    }

    /** Sends a request to a replica that computes its prompt, then to the one that answers, whose words follow to the first. */
    private void dispatchPair(PrefillLegs legs, RequestGate.Arrival arrival, int decoder) {
        if (!legs.arePossible()) {
            gate.failUnserved(arrival.request(), arrival.replyTo(), "no replica computes prompts");
            return;
        }
        var fault = fault(arrival, decoder);
        if (fault.fails()) {
            gate.failInjected(arrival, fault, decoder);
            return;
        }
        int prefiller = legs.begin(arrival, decoder, clock.nowNanos(), replicas.get(decoder));
        if (prefiller >= 0) {
            var request = arrival.request();
            var params =
                    KvTransferParams.remotePrefill(prefiller, request.prompt().length(), 0);
            var paired = arrival.with(request.withTransfer(request.sampling(), params));
            send(paired, decoder, false, replicas.get(prefiller), fault);
        }
    }

    /** Dispatches a request, which may fetch KV from the replica that has most of it, if that is worth it. */
    private void fetchOrDispatch(RequestGate.Arrival arrival, int chosen) {
        int source = lane.kvSource(chosen, minPeerFetchTokens);
        if (source == chosen) {
            dispatch(arrival, chosen, false, null);
            return;
        }
        var request = arrival.request();
        var params = KvTransferParams.kvSource(source);
        dispatch(arrival.with(request.withTransfer(request.sampling(), params)), chosen, false, replicas.get(source));
    }

    /** A prompt is computed, or has failed, or its request was given up. */
    void onPrefillEvent(RequestEvent event) {
        if (arePaired) {
            boolean isComputed =
                    event instanceof RequestEvent.Finished finished && finished.reason() != FinishReason.ABORT;
            var gone = new Replica.ForMemory(new KvExchange.PeerGone(event.requestId()));
            endPaired(event.requestId(), isComputed ? null : gone);
            return;
        }
        var leg = Objects.requireNonNull(prefillLegs).end(event.requestId());
        if (leg == null) {
            return;
        }
        var arrival = leg.arrival();
        if (leg.isAborted()) {
            gate.abort(arrival.request(), arrival.replyTo());
        } else if (event instanceof RequestEvent.Finished finished) {
            answer(leg, finished.timing());
        } else if (event instanceof RequestEvent.Rejected rejected) {
            gate.reject(arrival, rejected.outcome(), rejected.reason());
        } else if (event instanceof RequestEvent.Failed failed) {
            if (prefillLegs.fallsBack()) {
                answer(leg, null);
            } else {
                gate.failPrefill(arrival.request(), arrival.replyTo(), failed);
            }
        }
    }

    /** Sends a request on to the replica that was chosen to answer it, or to another one if that is gone. */
    private void answer(PrefillLegs.Leg leg, RequestEvent.@Nullable Timing prefill) {
        look();
        var arrival = prefill == null ? leg.arrival() : leg.arrival().with(PrefillLegs.answered(leg, prefill));
        int decoder = leg.decoder();
        if (!view.takesRequests(decoder)) {
            if (view.numReady() == 0) {
                gate.failUnserved(arrival.request(), arrival.replyTo(), "no replica takes requests");
                return;
            }
            decoder = policy.choose(arrival.request(), view);
        }
        dispatch(arrival, decoder, false, prefill == null ? null : replicas.get(leg.prefiller()));
    }

    /** @param kvHolder the replica that holds the KV of the prompt, or null if none does */
    private void dispatch(
            RequestGate.Arrival arrival, int chosen, boolean isPinned, @Nullable ActorRef<Replica.Command> kvHolder) {
        var fault = fault(arrival, chosen);
        if (fault.fails()) {
            gate.failInjected(arrival, fault, chosen);
        } else {
            send(arrival, chosen, isPinned, kvHolder, fault);
        }
    }

    /** Returns the fault of a request on its way to a replica; those that come back have theirs. */
    private RequestFault fault(RequestGate.Arrival arrival, int chosen) {
        return arrival.isRerouted() ? arrival.fault() : arrival.fault().plus(gate.next(chosen));
    }

    private void send(
            RequestGate.Arrival arrival,
            int chosen,
            boolean isPinned,
            @Nullable ActorRef<Replica.Command> kvHolder,
            RequestFault fault) {
        var request = arrival.request();
        var view = lanes.of(chosen).view();
        view.onDispatched(chosen);
        var transfer = request.kvTransfer();
        boolean isComputed = transfer != null && transfer.doRemotePrefill();
        if (keepsAccount) {
            int numCached = isPinned ? 0 : policy.cachedTokens(chosen);
            view.onSent(chosen, request, isComputed ? request.prompt().length() : numCached);
        }
        if (arrival.isStreaming()) {
            arrival.replyTo().tell(new RequestEvent.Admitted(request.id(), chosen));
        }
        // On another replica, such as that which has computed the prompt, the API has all of the work to do again.
        long headStart = arrival.isRerouted() || isComputed ? 0 : clock.nowNanos() - request.arrivalNanos();
        replicas.get(chosen)
                .tell(new Replica.AddRequest(
                        request,
                        arrival.replyTo(),
                        arrival.isStreaming(),
                        isPinned,
                        arrival.numRetries(),
                        fault,
                        headStart,
                        kvHolder));
    }
}

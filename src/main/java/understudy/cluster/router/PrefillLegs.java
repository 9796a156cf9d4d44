package understudy.cluster.router;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Replica;
import understudy.cluster.RequestEvent;
import understudy.engine.Request;
import understudy.engine.SamplingParams;
import understudy.kvcache.connector.KvTransferParams;
import understudy.routing.ClusterView;
import understudy.routing.DisaggregationSpec;
import understudy.routing.Lanes;
import understudy.routing.RoutingPolicy;

/**
 * Prompts that one replica computes for another. As vLLM's proxies have them: first a request for one token to the one
 * ({@code do_remote_decode}), then the whole request to the other ({@code do_remote_prefill}). As SGLang's router has them:
 * both at the same time, and the end of the prompt is of no interest unless it fails.
 */
final class PrefillLegs {
    private final DisaggregationSpec spec;
    private final Lanes.Lane lane;
    private final List<ActorRef<Replica.Command>> replicas;
    private final RequestGate gate;
    private final ActorRef<RequestEvent> events;
    private final boolean keepsAccount;
    private final Long2ObjectOpenHashMap<Leg> legs = new Long2ObjectOpenHashMap<>();
    private int numRetries;

    /**
     * Prompt that is being computed.
     *
     * @param prefiller index of the replica that does it
     * @param decoder index of the replica that was chosen to answer
     * @param isAborted whether its sender has given it up
     * @param retry what is left of the request, since the replica that was to answer has crashed meanwhile, or null
     */
    record Leg(
            RequestGate.Arrival arrival,
            int prefiller,
            int decoder,
            boolean isAborted,
            RequestGate.@Nullable Arrival retry) {}

    /** @param events receives the events of the prompts */
    PrefillLegs(
            DisaggregationSpec spec,
            Lanes.Lane lane,
            List<ActorRef<Replica.Command>> replicas,
            RequestGate gate,
            ActorRef<RequestEvent> events,
            boolean keepsAccount) {
        this.spec = spec;
        this.lane = lane;
        this.replicas = replicas;
        this.gate = gate;
        this.events = events;
        this.keepsAccount = keepsAccount;
    }

    /** Returns whether another replica is to compute the prompt of a request, and can. */
    boolean areWanted(int numUncachedTokens) {
        var view = lane.view();
        return view.numReady() > 0 && spec.isWanted(numUncachedTokens, queueSize(view));
    }

    /** Returns whether any replica computes prompts now. */
    boolean arePossible() {
        return lane.view().numReady() > 0;
    }

    private static double queueSize(ClusterView view) {
        long sum = 0;
        var ready = view.readyReplicas();
        for (int i = 0; i < ready.size(); i++) {
            sum += view.outstanding(ready.getInt(i));
        }
        return (double) sum / ready.size();
    }

    /**
     * Sends a prompt to a replica that computes it.
     *
     * @param peer the replica that answers if it gets the request at the same time, or null
     * @return the index of the one that computes, or -1 if the request has failed
     */
    int begin(RequestGate.Arrival arrival, int decoder, long nowNanos, @Nullable ActorRef<Replica.Command> peer) {
        var request = arrival.request();
        lane.view().setNow(nowNanos);
        int prefiller = policy().choose(request, lane.view());
        var fault = gate.next(prefiller);
        if (fault.fails()) {
            gate.failInjected(arrival, fault, prefiller);
            return -1;
        }
        lane.view().onDispatched(prefiller);
        if (keepsAccount) {
            lane.view().onSent(prefiller, request, policy().cachedTokens(prefiller));
        }
        legs.put(request.id(), new Leg(arrival, prefiller, decoder, false, null));
        long headStart = arrival.isRerouted() ? 0 : nowNanos - request.arrivalNanos();
        var leg = request.withTransfer(SamplingParams.ofMaxTokens(1), KvTransferParams.REMOTE_DECODE);
        replicas.get(prefiller)
                .tell(new Replica.AddRequest(leg, events, false, false, arrival.numRetries(), fault, headStart, peer));
        return prefiller;
    }

    private RoutingPolicy policy() {
        return lane.policy();
    }

    /** Takes a prompt from the list that is computed, or has failed; null if it is not there. */
    @Nullable Leg end(long requestId) {
        var leg = legs.remove(requestId);
        if (leg != null) {
            lane.view().onEnded(requestId);
            numRetries -= leg.retry == null ? 0 : 1;
        }
        return leg;
    }

    /** A request is given up, whose prompt may be computed already. */
    void abort(long requestId) {
        legs.computeIfPresent(
                requestId, (id, leg) -> new Leg(leg.arrival, leg.prefiller, leg.decoder, true, leg.retry));
    }

    /**
     * Has a request wait for the end of its prompt, which is of no use any more: it is sent again then, since no replica can
     * have a request twice.
     *
     * @return whether its prompt has not ended yet
     */
    boolean retryAfter(RequestGate.Arrival retry) {
        var leg = legs.computeIfPresent(
                retry.request().id(),
                (id, open) -> new Leg(open.arrival, open.prefiller, open.decoder, open.isAborted, retry));
        numRetries += leg == null ? 0 : 1;
        return leg != null;
    }

    /** Returns how many requests wait for that. */
    int numToRetry() {
        return numRetries;
    }

    /** Returns the request for the replica that answers. */
    static Request answered(Leg leg, RequestEvent.Timing timing) {
        var request = leg.arrival.request();
        long prefillNanos = timing.firstTokenNanos() - timing.scheduledNanos();
        var params =
                KvTransferParams.remotePrefill(leg.prefiller, request.prompt().length(), prefillNanos);
        return request.withTransfer(request.sampling(), params);
    }

    boolean fallsBack() {
        return spec.decodesLocallyOnFailure();
    }
}

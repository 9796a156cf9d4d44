package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;

/**
 * Sends a request where its first token is expected first: after the prefills that wait there, and its own of what is
 * not cached there.
 *
 * <p>Algorithm 1 of Mooncake (<a href="https://www.usenix.org/conference/fast25/presentation/qin">Qin et al., FAST
 * 2025</a>), without transfers of cached blocks from one replica to another. Prefill times come from the replica's
 * {@link understudy.routing.ReplicaTraits}, not from a regression. A prefill counts as a whole until its first token
 * has come. Replicas decode, too, which the estimate leaves out; among equals {@link LeastOutstanding} chooses.
 */
class TtftEstimate implements RoutingPolicy {
    static final RoutingPolicyFactory FACTORY =
            new RoutingPolicyFactory("ttft-estimate", Set.of(Signal.KV_EVENTS, Signal.PROGRESS), TtftEstimate::new);

    private final CachedPrefixes cached;
    private double[] backlogNanos = {};
    private double[] ttftNanos = {};

    TtftEstimate(RoutingPolicyFactory.Cluster cluster) {
        cached = new CachedPrefixes(cluster);
    }

    @Override
    public int choose(Request request, ClusterView view) {
        cached.find(request, view);
        int numTokens = request.prompt().length();
        backlogNanos = new double[view.numReplicas()];
        ttftNanos = new double[view.numReplicas()];
        for (int i : view.readyReplicas()) {
            backlogNanos[i] = backlogNanos(i, view);
            ttftNanos[i] = backlogNanos[i] + view.traits(i).prefillNanos(numTokens, cached.tokens(i));
        }
        return ReplicaChoice.lowest(view, i -> cost(i, view));
    }

    /** Returns the cost of a replica; the request goes where it is least. */
    double cost(int replica, ClusterView view) {
        return ttftNanos[replica];
    }

    /** Returns how long the prefills take that a replica still has to do. */
    double backlogNanos(int replica, ClusterView view) {
        return view.prefillNanos(replica);
    }

    @Override
    public double estimatedTtftNanos(int replica) {
        return ttftNanos[replica];
    }

    @Override
    public int cachedTokens(int replica) {
        return cached.tokens(replica);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return new RoutingScores(
                "first token first",
                List.of(
                        micros("TTFT in us", ttftNanos, view),
                        RoutingScores.outstanding(view),
                        micros("waiting prefills in us", backlogNanos, view),
                        cached.part(view)));
    }

    private static RoutingScores.Part micros(String name, double[] nanos, ClusterView view) {
        return RoutingScores.Part.of(name, view, i -> Math.round(nanos[i] / 1_000), false);
    }

    @Override
    public void onKvEvents(int replica, List<KvEvent> events) {
        cached.onKvEvents(replica, events);
    }
}

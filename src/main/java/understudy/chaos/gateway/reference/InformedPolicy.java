package understudy.chaos.gateway.reference;

import java.util.List;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;

/**
 * Sends a request where it adds least to the work, in tokens: those of the prompt that are not cached there, and so many for
 * each request that is under way. Among equals the replica that has been sent the fewest is chosen.
 */
final class InformedPolicy implements RoutingPolicy {
    /** Tokens to compute that a request under way counts for. */
    private static final double TOKENS_PER_REQUEST = 64;

    private final List<ReplicaSignals> signals;

    InformedPolicy(List<ReplicaSignals> signals) {
        this.signals = List.copyOf(signals);
    }

    @Override
    public int choose(Request request, ClusterView view) {
        int best = view.firstReady();
        double least = cost(best, request, view);
        for (int i : view.readyReplicas()) {
            double cost = cost(i, request, view);
            if (cost < least || (cost == least && view.dispatched(i) < view.dispatched(best))) {
                best = i;
                least = cost;
            }
        }
        signals.get(best).onSent(request.prompt(), view.nowNanos());
        return best;
    }

    private double cost(int replica, Request request, ClusterView view) {
        var known = signals.get(replica);
        int numTokens = request.prompt().length() - known.cachedTokens(request.prompt(), view.nowNanos());
        return numTokens + TOKENS_PER_REQUEST * known.load.requests(view.outstanding(replica), view.nowNanos());
    }
}

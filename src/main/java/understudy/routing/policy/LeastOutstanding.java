package understudy.routing.policy;

import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;

/**
 * The replica with the fewest requests that were sent and have not ended, in relation to its capacity; among equals the
 * one that has been sent the fewest so far, then the one with the lowest index (the tie-break of SMG, {@code
 * model_gateway/src/policies}).
 */
public final class LeastOutstanding implements RoutingPolicy {
    public static final RoutingPolicyFactory FACTORY =
            RoutingPolicyFactory.of("least-outstanding", LeastOutstanding::new);

    @Override
    public int choose(Request request, ClusterView view) {
        return leastLoaded(view);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return RoutingScores.ofLoad("fewest outstanding", view);
    }

    static int leastLoaded(ClusterView view) {
        int best = view.firstReady();
        for (int i = best + 1; i < view.numReplicas(); i++) {
            if (view.isReady(i) && isLessLoaded(view, i, best)) {
                best = i;
            }
        }
        return best;
    }

    static boolean isLessLoaded(ClusterView view, int replica, int other) {
        int order = Double.compare(view.load(replica), view.load(other));
        return order < 0 || (order == 0 && view.dispatched(replica) < view.dispatched(other));
    }
}

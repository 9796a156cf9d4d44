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
        return view.leastLoaded();
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return RoutingScores.ofLoad("fewest outstanding", view);
    }
}

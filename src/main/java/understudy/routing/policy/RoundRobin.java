package understudy.routing.policy;

import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;

/** One replica after the other, whatever their load. */
public final class RoundRobin implements RoutingPolicy {
    public static final RoutingPolicyFactory FACTORY = RoutingPolicyFactory.of("round-robin", RoundRobin::new);

    private int next;

    @Override
    public int choose(Request request, ClusterView view) {
        int chosen = next % view.numReplicas();
        while (!view.isReady(chosen)) {
            chosen = (chosen + 1) % view.numReplicas();
        }
        next = chosen + 1;
        return chosen;
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return RoutingScores.ofLoad("next in turn", view);
    }
}

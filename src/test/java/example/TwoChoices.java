package example;

import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;

/** Compares two replicas, which take turns, and chooses the less loaded one. */
public final class TwoChoices implements RoutingPolicy {
    static final RoutingPolicyFactory FACTORY = RoutingPolicyFactory.of("two-choices", TwoChoices::new);

    private int turn;

    @Override
    public int choose(Request request, ClusterView view) {
        var ready = view.readyReplicas();
        int one = ready.getInt(turn % ready.size());
        int other = ready.getInt((turn + 1) % ready.size());
        turn = (turn + 1) % ready.size();
        return view.outstanding(other) < view.outstanding(one) ? other : one;
    }
}

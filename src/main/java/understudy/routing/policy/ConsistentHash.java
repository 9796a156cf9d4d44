package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;

/**
 * The replica that a {@link HashRing} has for the request's session or tenant, whatever the loads; the least loaded one
 * for requests without.
 *
 * <p>The rule of SMG's {@code consistent_hashing} and of the session router of vLLM's production stack, whose keys are
 * headers. Without a key SMG draws a replica, and the production stack takes the one with the lowest rate of requests;
 * here {@link LeastOutstanding} chooses.
 */
final class ConsistentHash implements RoutingPolicy {
    static final String NAME = "consistent-hash";

    private final boolean isByTenant;
    private final HashRing ring = new HashRing();
    private String key = "";
    private int chosen;

    private ConsistentHash(boolean isByTenant) {
        this.isByTenant = isByTenant;
    }

    static RoutingPolicyFactory factory(PolicySettings settings) {
        boolean isByTenant =
                settings.choice("key", List.of("session", "tenant")).equals("tenant");
        return new RoutingPolicyFactory(NAME, Set.of(), cluster -> new ConsistentHash(isByTenant));
    }

    @Override
    public int choose(Request request, ClusterView view) {
        key = isByTenant ? request.tenant() : session(request);
        chosen = key.isEmpty() ? view.leastLoaded() : ring.find(key, view);
        return chosen;
    }

    private static String session(Request request) {
        var turn = request.prompt().turn();
        return turn.isInSession() ? String.valueOf(turn.sessionId()) : "";
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        if (key.isEmpty()) {
            return RoutingScores.ofLoad("no key: fewest outstanding", view);
        }
        var isNext = RoutingScores.Part.ofThose("next on the ring", view, replica -> replica == chosen);
        return new RoutingScores("next on the ring", List.of(isNext, RoutingScores.outstanding(view)));
    }
}

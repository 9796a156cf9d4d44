package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;

/**
 * Of two different replicas that are drawn, the one with fewer prompt tokens under way, in relation to its capacity; among
 * equals the one that was drawn first (SMG, {@code model_gateway/src/policies/power_of_two.rs}).
 *
 * <p>SMG compares the replicas' own token counts if it has both, else the requests it has sent them; here the router's
 * account of tokens takes the place of both.
 */
final class PowerOfTwo implements RoutingPolicy {
    static final RoutingPolicyFactory FACTORY = new RoutingPolicyFactory(
            "power-of-two",
            Set.of(Signal.PROGRESS),
            cluster -> new PowerOfTwo(cluster.streams().stream("router-power-of-two")));

    private final UniformRandomProvider random;
    private int first;
    private int second;

    private PowerOfTwo(UniformRandomProvider random) {
        this.random = random;
    }

    @Override
    public int choose(Request request, ClusterView view) {
        draw(view);
        return view.tokenLoad(second) < view.tokenLoad(first) ? second : first;
    }

    private void draw(ClusterView view) {
        var ready = view.readyReplicas();
        int size = ready.size();
        int index = random.nextInt(size);
        first = ready.getInt(index);
        second = size == 1 ? first : ready.getInt((index + 1 + random.nextInt(size - 1)) % size);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return new RoutingScores(
                "fewer prompt tokens of two",
                List.of(
                        RoutingScores.Part.ofThose("drawn", view, replica -> replica == first || replica == second),
                        RoutingScores.promptTokens(view),
                        RoutingScores.Part.ofThose("drawn first", view, replica -> replica == first)));
    }
}

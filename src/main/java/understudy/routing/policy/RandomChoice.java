package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;

/** Any replica that takes requests, each with the same probability ({@code random} of SGLang's router and SMG). */
final class RandomChoice implements RoutingPolicy {
    static final RoutingPolicyFactory FACTORY = new RoutingPolicyFactory(
            "random", Set.of(), cluster -> new RandomChoice(cluster.streams().stream("router-random")));

    private final UniformRandomProvider random;
    private int drawn;

    private RandomChoice(UniformRandomProvider random) {
        this.random = random;
    }

    @Override
    public int choose(Request request, ClusterView view) {
        var ready = view.readyReplicas();
        drawn = ready.getInt(random.nextInt(ready.size()));
        return drawn;
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        var isDrawn = RoutingScores.Part.ofThose("drawn", view, replica -> replica == drawn);
        return new RoutingScores("drawn", List.of(isDrawn, RoutingScores.outstanding(view)));
    }
}

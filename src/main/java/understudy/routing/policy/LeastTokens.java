package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;

/**
 * The replica with the fewest prompt tokens of requests that were sent and have not ended, in relation to its capacity;
 * among equals as {@link LeastOutstanding}. Long prompts weigh more than short ones, as in llm-d's {@code
 * token-load-scorer}, which stops counting at 4,194,304 tokens; here nothing is cut off.
 */
final class LeastTokens implements RoutingPolicy {
    static final RoutingPolicyFactory FACTORY =
            new RoutingPolicyFactory("least-tokens", Set.of(Signal.PROGRESS), cluster -> new LeastTokens());

    @Override
    public int choose(Request request, ClusterView view) {
        return view.bestReady((replica, other) -> {
            int order = Double.compare(view.tokenLoad(replica), view.tokenLoad(other));
            return order != 0 ? order : view.compareLoads(replica, other);
        });
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return new RoutingScores(
                "fewest prompt tokens", List.of(RoutingScores.promptTokens(view), RoutingScores.outstanding(view)));
    }
}

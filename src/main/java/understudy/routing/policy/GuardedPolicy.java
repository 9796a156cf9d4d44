package understudy.routing.policy;

import java.util.List;
import java.util.function.Consumer;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingScores;

/**
 * Policy that puts another one right: where that one throws, or chooses a replica that takes no requests, {@link
 * LeastOutstanding} chooses.
 */
public final class GuardedPolicy implements RoutingPolicy {
    private final RoutingPolicy policy;
    private final Consumer<RuntimeException> onFailure;
    private final RoutingPolicy fallback = new LeastOutstanding();
    private RoutingPolicy decided = fallback;

    /** @param onFailure is told what the policy throws */
    public GuardedPolicy(RoutingPolicy policy, Consumer<RuntimeException> onFailure) {
        this.policy = policy;
        this.onFailure = onFailure;
    }

    @Override
    public int choose(Request request, ClusterView view) {
        decided = fallback;
        try {
            int chosen = policy.choose(request, view);
            if (view.isReady(chosen)) {
                decided = policy;
                return chosen;
            }
        } catch (RuntimeException e) {
            onFailure.accept(e);
        }
        return fallback.choose(request, view);
    }

    @Override
    public int cachedTokens(int replica) {
        try {
            return decided.cachedTokens(replica);
        } catch (RuntimeException e) {
            onFailure.accept(e);
            return 0;
        }
    }

    @Override
    public double estimatedTtftNanos(int replica) {
        try {
            return decided.estimatedTtftNanos(replica);
        } catch (RuntimeException e) {
            onFailure.accept(e);
            return Double.NaN;
        }
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        try {
            return decided.explain(view);
        } catch (RuntimeException e) {
            onFailure.accept(e);
            return fallback.explain(view);
        }
    }

    @Override
    public void onKvEvents(int replica, List<KvEvent> events) {
        try {
            policy.onKvEvents(replica, events);
        } catch (RuntimeException e) {
            onFailure.accept(e);
        }
    }
}

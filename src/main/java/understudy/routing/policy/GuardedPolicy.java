package understudy.routing.policy;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
    private boolean hasFailed;

    /** @param onFailure is told the policy's first exception */
    public GuardedPolicy(RoutingPolicy policy, Consumer<RuntimeException> onFailure) {
        this.policy = policy;
        this.onFailure = onFailure;
    }

    @Override
    public int choose(Request request, ClusterView view) {
        decided = fallback;
        int chosen = guarded(() -> policy.choose(request, view), () -> -1);
        if (view.isReady(chosen)) {
            decided = policy;
            return chosen;
        }
        return fallback.choose(request, view);
    }

    @Override
    public int cachedTokens(int replica) {
        return guarded(() -> decided.cachedTokens(replica), () -> 0);
    }

    @Override
    public double estimatedTtftNanos(int replica) {
        return guarded(() -> decided.estimatedTtftNanos(replica), () -> Double.NaN);
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        return guarded(() -> decided.explain(view), () -> fallback.explain(view));
    }

    private <T> T guarded(Supplier<T> call, Supplier<T> substitute) {
        try {
            return call.get();
        } catch (RuntimeException e) {
            onException(e);
            return substitute.get();
        }
    }

    private void onException(RuntimeException e) {
        if (!hasFailed) {
            hasFailed = true;
            onFailure.accept(e);
        }
    }

    @Override
    public void onKvEvents(int replica, List<KvEvent> events) {
        try {
            policy.onKvEvents(replica, events);
        } catch (RuntimeException e) {
            onException(e);
        }
    }
}

package understudy.cluster;

import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.LeastOutstanding;
import understudy.routing.RoutingPolicy;
import understudy.runtime.Clock;

/** Choice of a replica by the routing policy; if that is not ready, by {@link LeastOutstanding}. */
final class RouteChooser {
    private final RoutingPolicy policy;
    private final RoutingPolicy fallback = new LeastOutstanding();
    private final ClusterView view;
    private final Clock clock;
    private final @Nullable Subscriber subscriber;

    RouteChooser(RoutingPolicy policy, ClusterView view, Clock clock, @Nullable Subscriber subscriber) {
        this.policy = policy;
        this.view = view;
        this.clock = clock;
        this.subscriber = subscriber;
    }

    /** Returns a replica that is ready; there is at least one. */
    int choose(Request request) {
        int chosen = policy.choose(request, view);
        boolean isUsable = view.isReady(chosen);
        int replica = isUsable ? chosen : fallback.choose(request, view);
        if (subscriber != null) {
            var scores = (isUsable ? policy : fallback).explain(view);
            subscriber.tell(
                    new ClusterEvent.Routed(request.id(), replica, clock.nowNanos(), view.readyReplicas(), scores));
        }
        return replica;
    }
}

package example;

import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingPolicyProvider;

/** Fills one replica after the other, so that fewer of them would do. */
public final class FillFirst implements RoutingPolicyProvider {
    @Override
    public String name() {
        return "fill-first";
    }

    @Override
    public RoutingPolicyFactory read(PolicySettings settings) {
        long maxOutstanding = settings.wholeNumber("max-outstanding", 1, 1_000);
        return RoutingPolicyFactory.of(name(), () -> (request, view) -> choose(view, maxOutstanding));
    }

    private static int choose(ClusterView view, long maxOutstanding) {
        for (int replica : view.readyReplicas()) {
            if (view.outstanding(replica) < maxOutstanding) {
                return replica;
            }
        }
        return view.bestReady((one, other) -> Long.compare(view.outstanding(one), view.outstanding(other)));
    }
}

package understudy.routing;

import java.util.List;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;

/** Decides which replica serves a request. Deterministic: equal histories give equal choices. */
public interface RoutingPolicy {

    /** Returns the index of the replica for a request, a ready one; there is at least one. */
    int choose(Request request, ClusterView view);

    /**
     * Returns why the last choice was made. Called right after it, if at all, with nothing changed in between, and
     * changes nothing.
     */
    default RoutingScores explain(ClusterView view) {
        return RoutingScores.ofLoad("as the policy says", view);
    }

    /** Accepts the KV events of one step of a replica, in order; see {@link RoutingPolicyFactory#usesKvEvents}. */
    default void onKvEvents(int replica, List<KvEvent> events) {}
}

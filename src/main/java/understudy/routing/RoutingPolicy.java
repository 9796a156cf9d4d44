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

    /**
     * Returns how many prompt tokens of the request that was chosen for last a replica has cached, as far as the policy
     * knows. Called right after the choice.
     */
    default int cachedTokens(int replica) {
        return 0;
    }

    /**
     * Returns how long the request that was chosen for last is expected to wait for its first token on a replica; NaN if
     * the policy makes no such estimate. Called right after the choice.
     */
    default double estimatedTtftNanos(int replica) {
        return Double.NaN;
    }

    /**
     * Accepts changes of a replica's prefix-hash table, in order, if the policy wants {@link Signal#KV_EVENTS}. All
     * policies are told when a table is gone with its replica.
     */
    default void onKvEvents(int replica, List<KvEvent> events) {}
}

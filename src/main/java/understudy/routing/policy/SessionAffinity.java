package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.PolicySettings;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;
import understudy.routing.Signal;

/**
 * The replica that a session's latest request was sent to, as long as it takes requests and is not saturated; for a new
 * session, and for requests outside of any, the least loaded one. The session that has been quiet longest is forgotten
 * first.
 *
 * <p>A session that leaves its replica stays at the new one. Saturation is that of the detector of the Gateway
 * API Inference Extension, which takes 5 waiting requests and 0.8 of the KV cache for a pool; llm-d's "sticky until
 * saturated" asks for an estimate of the time to the first token instead.
 */
public final class SessionAffinity implements RoutingPolicy {
    static final String NAME = "session-affinity";

    private final Options options;
    private final SessionReplicas sessions;
    private int remembered = SessionReplicas.NONE;
    private String rule = "";

    /**
     * Load beyond which a session leaves its replica, as the latest report says.
     *
     * @param maxWaiting requests that may wait there, infinite for any number
     * @param maxKvCacheUsage share of the KV cache that may be in use, 0 to 1
     */
    record Options(double maxWaiting, double maxKvCacheUsage) {
        static Options read(PolicySettings settings) {
            return new Options(
                    settings.number("max-waiting", 0, Double.POSITIVE_INFINITY),
                    settings.number("max-kv-cache-usage", 0, 1));
        }

        boolean isExceeded(ClusterView view, int replica) {
            var report = view.report(replica);
            return report.numWaiting() > maxWaiting || report.kvCacheUsage() > maxKvCacheUsage;
        }

        Set<Signal> signals() {
            boolean isNever = maxWaiting == Double.POSITIVE_INFINITY && maxKvCacheUsage == 1;
            return isNever ? Set.of() : Set.of(Signal.LOAD_REPORTS);
        }
    }

    /** Creates a policy that remembers so many sessions, at least 1. */
    SessionAffinity(Options options, int maxSessions) {
        this.options = options;
        sessions = new SessionReplicas(maxSessions);
    }

    static RoutingPolicyFactory factory(PolicySettings settings) {
        var options = Options.read(settings);
        return new RoutingPolicyFactory(
                NAME, options.signals(), cluster -> new SessionAffinity(options, SessionReplicas.USUAL_SIZE));
    }

    @Override
    public int choose(Request request, ClusterView view) {
        int last = sessions.find(request);
        boolean isSaturated = view.isReady(last) && options.isExceeded(view, last);
        remembered = view.isReady(last) && !isSaturated ? last : SessionReplicas.NONE;
        rule = isSaturated ? "saturated: fewest outstanding" : "new session: fewest outstanding";
        int chosen = remembered == SessionReplicas.NONE ? view.leastLoaded() : remembered;
        sessions.onChosen(request, chosen);
        return chosen;
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        if (remembered == SessionReplicas.NONE) {
            return RoutingScores.ofLoad(rule, view);
        }
        var hasSession = RoutingScores.Part.ofThose("has the session", view, replica -> replica == remembered);
        return new RoutingScores("has the session", List.of(hasSession, RoutingScores.outstanding(view)));
    }
}

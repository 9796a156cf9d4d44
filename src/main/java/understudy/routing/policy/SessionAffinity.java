package understudy.routing.policy;

import java.util.List;
import understudy.engine.Request;
import understudy.routing.ClusterView;
import understudy.routing.RoutingPolicy;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.RoutingScores;

/**
 * The replica that a session's latest request was sent to, as long as it takes requests; for a new session, and for
 * requests outside of any, the least loaded one. The session that has been quiet longest is forgotten first.
 */
public final class SessionAffinity implements RoutingPolicy {
    public static final RoutingPolicyFactory FACTORY =
            RoutingPolicyFactory.of("session-affinity", () -> new SessionAffinity(SessionReplicas.USUAL_SIZE));

    private final SessionReplicas sessions;
    private int remembered = SessionReplicas.NONE;

    /** Creates a policy that remembers so many sessions, at least 1. */
    SessionAffinity(int maxSessions) {
        sessions = new SessionReplicas(maxSessions);
    }

    @Override
    public int choose(Request request, ClusterView view) {
        int last = sessions.find(request);
        remembered = view.isReady(last) ? last : SessionReplicas.NONE;
        int chosen = remembered == SessionReplicas.NONE ? LeastOutstanding.leastLoaded(view) : remembered;
        sessions.onChosen(request, chosen);
        return chosen;
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        if (remembered == SessionReplicas.NONE) {
            return RoutingScores.ofLoad("new session: fewest outstanding", view);
        }
        var affinity = RoutingScores.part("has the session", view, true, i -> i == remembered ? 1 : 0);
        return new RoutingScores("has the session", List.of(affinity, RoutingScores.outstanding(view)));
    }
}

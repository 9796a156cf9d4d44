package understudy.routing.policy;

import it.unimi.dsi.fastutil.longs.Long2IntLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
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
            RoutingPolicyFactory.of("session-affinity", () -> new SessionAffinity(1 << 17));

    private static final int NONE = -1;

    private final int maxSessions;
    private final Long2IntLinkedOpenHashMap replicaBySession = new Long2IntLinkedOpenHashMap();
    private int remembered = NONE;

    /** Creates a policy that remembers so many sessions, at least 1. */
    SessionAffinity(int maxSessions) {
        this.maxSessions = maxSessions;
        replicaBySession.defaultReturnValue(NONE);
    }

    @Override
    public int choose(Request request, ClusterView view) {
        var turn = request.prompt().turn();
        int last = turn.isInSession() ? replicaBySession.get(turn.sessionId()) : NONE;
        remembered = last != NONE && view.isReady(last) ? last : NONE;
        int chosen = remembered == NONE ? LeastOutstanding.leastLoaded(view) : remembered;
        if (turn.isInSession()) {
            remember(turn.sessionId(), chosen);
        }
        return chosen;
    }

    private void remember(long sessionId, int replica) {
        replicaBySession.putAndMoveToLast(sessionId, replica);
        if (replicaBySession.size() > maxSessions) {
            replicaBySession.removeFirstInt();
        }
    }

    @Override
    public RoutingScores explain(ClusterView view) {
        if (remembered == NONE) {
            return RoutingScores.ofLoad("new session: fewest outstanding", view);
        }
        var isRemembered = new LongArrayList(new long[view.numReplicas()]);
        isRemembered.set(remembered, 1);
        var affinity = new RoutingScores.Part("has the session", new LongImmutableList(isRemembered), true);
        return new RoutingScores("has the session", List.of(affinity, RoutingScores.outstanding(view)));
    }
}

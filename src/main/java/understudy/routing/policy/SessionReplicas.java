package understudy.routing.policy;

import it.unimi.dsi.fastutil.longs.Long2IntLinkedOpenHashMap;
import understudy.engine.Request;

/** Replicas that sessions were last sent to. The session that has been quiet longest is forgotten first. */
final class SessionReplicas {
    static final int NONE = -1;
    static final int USUAL_SIZE = 1 << 17;

    private final int maxSessions;
    private final Long2IntLinkedOpenHashMap replicaBySession = new Long2IntLinkedOpenHashMap();

    /** Creates a memory of so many sessions, at least 1. */
    SessionReplicas(int maxSessions) {
        this.maxSessions = maxSessions;
        replicaBySession.defaultReturnValue(NONE);
    }

    /** Returns where the session of a request was last sent, or {@link #NONE}. */
    int find(Request request) {
        var turn = request.prompt().turn();
        return turn.isInSession() ? replicaBySession.get(turn.sessionId()) : NONE;
    }

    void onChosen(Request request, int replica) {
        var turn = request.prompt().turn();
        if (turn.isInSession()) {
            replicaBySession.putAndMoveToLast(turn.sessionId(), replica);
            if (replicaBySession.size() > maxSessions) {
                replicaBySession.removeFirstInt();
            }
        }
    }
}

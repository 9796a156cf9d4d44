package understudy.api.call;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.prompt.SessionTurn;

/**
 * Sessions by the names that clients give them; their turns are counted as calls come. The session that has been quiet
 * longest is forgotten first. Thread-safe.
 */
public final class Sessions {
    /** The header that names a call's session. */
    public static final String HEADER = "X-Session-Id";

    private static final int MAX_NAMES = 50_000;
    private static final int MAX_LENGTH = 256;

    private final int maxNames;
    private final Map<String, Session> byName = new LinkedHashMap<>(16, 0.75f, true);
    private long numSessions;

    public Sessions() {
        this(MAX_NAMES);
    }

    /** Creates an empty table for so many names. */
    Sessions(int maxNames) {
        this.maxNames = maxNames;
    }

    /** A session that goes on. */
    private static final class Session {
        private final long number;
        private int numTurns;

        Session(long number) {
            this.number = number;
        }
    }

    /** Returns the name of a call's session, or null if its header gives none. */
    public static @Nullable String nameOf(HttpRequest request) {
        String name = request.getHeader(HEADER).map(header -> header.value()).orElse("");
        if (name.length() > MAX_LENGTH) {
            throw ApiException.badRequest(HEADER + " must have at most " + MAX_LENGTH + " characters.", null);
        }
        return name.isEmpty() ? null : name;
    }

    /** Returns the next turn of the session that a call names, or that it belongs to none. */
    public SessionTurn next(HttpRequest request) {
        String name = nameOf(request);
        return name == null ? SessionTurn.NONE : next(name);
    }

    /** Returns the next turn of a session; one that is not known begins. */
    public synchronized SessionTurn next(String name) {
        var session = byName.computeIfAbsent(name, unknown -> new Session(numSessions++));
        session.numTurns++;
        forgetEldest();
        return SessionTurn.of(session.number, session.numTurns);
    }

    /** Gives the session called {@code name}, which is known, another name beside that. */
    public synchronized void addName(String name, String other) {
        var session = byName.get(name);
        if (session != null) {
            byName.put(other, session);
            forgetEldest();
        }
    }

    private void forgetEldest() {
        if (byName.size() > maxNames) {
            byName.remove(byName.keySet().iterator().next());
        }
    }
}

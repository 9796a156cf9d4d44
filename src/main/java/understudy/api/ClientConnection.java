package understudy.api;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.http.javadsl.model.AttributeKey;

/** One connection of a client, and what is to happen when the client goes away. Thread-safe. */
final class ClientConnection {
    /** Under which a request carries its connection. */
    static final AttributeKey<ClientConnection> KEY =
            AttributeKey.create("understudy-connection", ClientConnection.class);

    private final Set<Call> calls = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;
    private volatile boolean hasLastRequest;

    /** Takes note that the client has said that it sends no more requests, but waits for answers. */
    void onLastRequest() {
        hasLastRequest = true;
    }

    /** Takes note that no more requests come. */
    void onRequestsEnded(boolean hasFailed) {
        if (hasFailed || !hasLastRequest) {
            close();
        }
    }

    /** Returns whether the client has gone away. */
    boolean isClosed() {
        return isClosed;
    }

    /** Closes a call when the client goes away: its response may be waiting behind another one, and is never read then. */
    void carry(Call call) {
        calls.add(call);
        call.closed().whenComplete((done, failure) -> calls.remove(call));
        if (isClosed) {
            call.close();
        }
    }

    void close() {
        isClosed = true;
        calls.forEach(Call::close);
    }
}

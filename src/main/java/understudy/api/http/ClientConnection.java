package understudy.api.http;

import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.http.javadsl.model.AttributeKey;

/** One connection of a client, and what is to happen when the client goes away. Thread-safe. */
public final class ClientConnection {
    /** Under which a request carries its connection. */
    public static final AttributeKey<ClientConnection> KEY =
            AttributeKey.create("understudy-connection", ClientConnection.class);

    /** What goes on over a connection, and ends with it. */
    public interface Exchange {
        void close();

        /** Completes when it has ended. */
        CompletionStage<Void> closed();
    }

    private final Set<Exchange> calls = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;
    private volatile boolean hasLastRequest;

    /** Takes note that the client has said that it sends no more requests, but waits for answers. */
    public void onLastRequest() {
        hasLastRequest = true;
    }

    /** Takes note that no more requests come. */
    public void onRequestsEnded(boolean hasFailed) {
        if (hasFailed || !hasLastRequest) {
            close();
        }
    }

    /** Returns whether the client has gone away. */
    public boolean isClosed() {
        return isClosed;
    }

    /** Closes a call when the client goes away: its response may be waiting behind another one, and is never read then. */
    public void carry(Exchange call) {
        calls.add(call);
        call.closed().whenComplete((done, failure) -> calls.remove(call));
        if (isClosed) {
            call.close();
        }
    }

    public void close() {
        isClosed = true;
        calls.forEach(Exchange::close);
    }
}

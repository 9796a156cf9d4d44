package understudy.api.http;

import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.http.javadsl.model.AttributeKey;

/** Connection of a client, and the exchanges to end when the client disconnects. Thread-safe. */
public final class ClientConnection {
    /** Key under which a request carries its connection. */
    public static final AttributeKey<ClientConnection> KEY =
            AttributeKey.create("understudy-connection", ClientConnection.class);

    /** Key under which a request carries its ordinal number on its connection. */
    public static final AttributeKey<Integer> ORDINAL = AttributeKey.create("understudy-ordinal", Integer.class);

    /** Exchange over a connection, which ends with it. */
    public interface Exchange {
        void close();

        /** Completes when it has ended. */
        CompletionStage<Void> closed();
    }

    private final Runnable onHungUp;
    private final Set<Exchange> calls = ConcurrentHashMap.newKeySet();
    private final AtomicInteger numRequests = new AtomicInteger();
    private volatile boolean isClosed;
    private volatile boolean hasLastRequest;

    /**
     * Creates a connection.
     *
     * @param onHungUp closes it behind the answers that have been given
     */
    public ClientConnection(Runnable onHungUp) {
        this.onHungUp = onHungUp;
    }

    /** Counts a request that has come; returns its ordinal number. */
    public int onRequest() {
        return numRequests.incrementAndGet();
    }

    /** Returns whether another request has come behind the one of this ordinal number. */
    public boolean hasRequestBehind(int ordinal) {
        return numRequests.get() > ordinal;
    }

    /** Closes the connection behind the answers that have been given; takes no further requests. */
    public void hangUp() {
        onHungUp.run();
    }

    /** Records that the client sends no more requests, but waits for answers. */
    public void onLastRequest() {
        hasLastRequest = true;
    }

    /** Handles the end of the client's requests. */
    public void onRequestsEnded(boolean hasFailed) {
        if (hasFailed || !hasLastRequest) {
            close();
        }
    }

    /** Returns whether the client has disconnected. */
    public boolean isClosed() {
        return isClosed;
    }

    /**
     * Closes a call when the client goes away: its response may be waiting behind another one, and is never read then.
     */
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

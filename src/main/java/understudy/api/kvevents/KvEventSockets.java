package understudy.api.kvevents;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import zmq.ZError;

/**
 * The PUB socket of one replica, and the ROUTER socket that answers for missed batches (vLLM {@code
 * ZmqEventPublisher}). Used by one thread at a time, but for the endpoints.
 */
final class KvEventSockets implements AutoCloseable {
    /**
     * Time-out of the handshake, after which a connection without a greeting is tried again. A few in a hundred of
     * those that jeromq 0.6.0 makes, not of those that it accepts, are stuck like that (zeromq/jeromq#1022); its
     * default is 30 s.
     */
    static final int HANDSHAKE_MILLIS = 500;

    /** Most bytes of what others send: subscriptions, and requests for missed batches. */
    private static final int MAX_RECEIVED_BYTES = 4096;

    private static final byte[] EMPTY = new byte[0];
    private static final byte[] END_OF_REPLAY = bigEndian(-1);

    private final ZContext context;
    private final ZMQ.Socket pub;
    private final ZMQ.@Nullable Socket replay;
    private final PeerName peer;
    private @Nullable String unconnected;
    private boolean isClosed;
    private final String boundEndpoint;
    private final String boundReplayEndpoint;
    private final Supplier<String> topics;
    private byte @Nullable [] topic;
    private final int bufferSteps;
    private final ArrayDeque<Published> buffer = new ArrayDeque<>();

    private static final class Published {
        final long sequence;
        final byte[] payload;

        Published(long sequence, byte[] payload) {
            this.sequence = sequence;
            this.payload = payload;
        }
    }

    /**
     * Opens both sockets; throws {@link ZMQException} if an endpoint cannot be had.
     *
     * @param peer host to which the PUB socket connects, unless it binds
     * @param topics returns the topic, and is asked when there is something to publish
     */
    KvEventSockets(
            ZContext context, KvEventSettings settings, int replicaIndex, PeerName peer, Supplier<String> topics) {
        this.context = context;
        this.peer = peer;
        this.topics = topics;
        bufferSteps = settings.bufferSteps();
        String endpoint = KvEventSettings.forReplica(settings.endpoint(), replicaIndex);
        String replayEndpoint =
                settings.hasReplay() ? KvEventSettings.forReplica(settings.replayEndpoint(), replicaIndex) : "";
        pub = socket(SocketType.PUB, endpoint);
        ZMQ.Socket router = null;
        try {
            pub.setSndHWM(settings.hwm());
            pub.setHandshakeIvl(HANDSHAKE_MILLIS);
            if (KvEventSettings.binds(settings.endpoint())) {
                pub.bind(endpoint);
            } else if (peer.isKnown()) {
                pub.connect(endpoint);
            } else {
                unconnected = endpoint;
            }
            if (settings.hasReplay()) {
                router = socket(SocketType.ROUTER, replayEndpoint);
                bind(router, replayEndpoint);
            }
        } catch (ZMQException e) {
            pub.close();
            if (router != null) {
                router.close();
            }
            throw e;
        }
        replay = router;
        // Asked for now, since later these sockets belong to another thread than those who want to know.
        boundEndpoint = unconnected == null ? pub.getLastEndpoint() : endpoint;
        boundReplayEndpoint = replay == null ? "" : replay.getLastEndpoint();
    }

    private ZMQ.Socket socket(SocketType type, String endpoint) {
        var socket = context.createSocket(type);
        socket.setLinger(0);
        socket.setIPv6(KvEventSettings.isIpv6(endpoint));
        // Else a header of nine bytes makes jeromq reserve as much memory as it announces.
        socket.setMaxMsgSize(MAX_RECEIVED_BYTES);
        return socket;
    }

    /**
     * A client that does not read its answers gets no more than two full buffers. With a mark of one, a client that has
     * just read a buffer could not have another: jeromq counts messages as read only by half a mark at a time.
     */
    private void bind(ZMQ.Socket router, String endpoint) {
        router.setSndHWM((int) Math.min(2L * bufferSteps + 2, Integer.MAX_VALUE));
        // Else what is above the mark would be dropped in the middle of an answer.
        router.setRouterMandatory(true);
        router.bind(endpoint);
    }

    /** Connects as soon as the name of the peer is known. */
    void connectIfKnown() {
        if (unconnected != null && peer.isKnown()) {
            try {
                pub.connect(unconnected);
                unconnected = null;
            } catch (ZMQException e) {
                peer.lookUpAgain();
            }
        }
    }

    /** Gives ports and connections back; nothing can be published any more. */
    @Override
    public void close() {
        isClosed = true;
        pub.close();
        if (replay != null) {
            replay.close();
        }
        buffer.clear();
    }

    /** Returns the address of the PUB socket, with the port that it got if the endpoint leaves that open. */
    String endpoint() {
        return boundEndpoint;
    }

    /** Returns the address of the ROUTER socket, or empty if there is none. */
    String replayEndpoint() {
        return boundReplayEndpoint;
    }

    void publish(long sequence, byte[] payload) {
        if (buffer.size() == bufferSteps) {
            buffer.remove();
        }
        buffer.add(new Published(sequence, payload));
        pub.sendMore(topic());
        pub.sendMore(bigEndian(sequence));
        pub.send(payload);
    }

    private byte[] topic() {
        var known = topic;
        if (known == null) {
            known = topics.get().getBytes(StandardCharsets.UTF_8);
            topic = known;
        }
        return known;
    }

    /** Forgets the published events; a replica that has restarted counts from 0 again. */
    void restart() {
        buffer.clear();
    }

    /**
     * Answers all requests for missed batches that have come; never waits.
     *
     * @param publishQueued publishes what is waiting, so that an answer has everything that there was when it was asked
     *     for
     */
    void answerReplays(Runnable publishQueued) {
        if (replay == null) {
            return;
        }
        for (byte[] client = replay.recv(ZMQ.DONTWAIT); client != null; client = replay.recv(ZMQ.DONTWAIT)) {
            long start = receiveStart(replay);
            if (start >= 0) {
                publishQueued.run();
                if (isClosed) {
                    return;
                }
                sendFrom(replay, client, start);
            }
        }
    }

    /** Reads the rest of a request: an empty frame, and the first sequence number; -1 if it is something else. */
    private static long receiveStart(ZMQ.Socket replay) {
        long start = -1;
        int numFrames = 1;
        while (replay.hasReceiveMore()) {
            byte[] frame = replay.recv();
            numFrames++;
            start = numFrames == 3 && frame.length == Long.BYTES
                    ? ByteBuffer.wrap(frame).getLong()
                    : -1;
        }
        return start;
    }

    /** Answers as far as there is room for it, if the client is still there. */
    private void sendFrom(ZMQ.Socket router, byte[] client, long start) {
        for (var published : buffer) {
            if (published.sequence >= start
                    && !send(router, client, topic(), bigEndian(published.sequence), published.payload)) {
                return;
            }
        }
        send(router, client, EMPTY, END_OF_REPLAY, EMPTY);
    }

    private static boolean send(ZMQ.Socket router, byte[] client, byte[] topic, byte[] sequence, byte[] payload) {
        try {
            return router.send(client, ZMQ.SNDMORE | ZMQ.DONTWAIT)
                    && router.sendMore(EMPTY)
                    && router.sendMore(topic)
                    && router.sendMore(sequence)
                    && router.send(payload);
        } catch (ZMQException e) {
            if (e.getErrorCode() == ZError.EHOSTUNREACH) {
                return false;
            }
            throw e;
        }
    }

    private static byte[] bigEndian(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}

package understudy.api.kvevents;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * The PUB socket of one replica, and the ROUTER socket that answers for missed batches (vLLM {@code
 * ZmqEventPublisher}). Used by one thread at a time, but for the endpoints.
 */
final class KvEventSockets {
    /**
     * Time-out of the handshake, after which a connection without a greeting is tried again. A few in a hundred of
     * those that jeromq 0.6.0 makes, not of those that it accepts, are stuck like that (zeromq/jeromq#1022); its
     * default is 30 s.
     */
    static final int HANDSHAKE_MILLIS = 500;

    private static final byte[] EMPTY = new byte[0];
    private static final byte[] END_OF_REPLAY = bigEndian(-1);

    private final ZMQ.Socket pub;
    private final ZMQ.@Nullable Socket replay;
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
     * Opens both sockets; throws {@link org.zeromq.ZMQException} if an endpoint cannot be had.
     *
     * @param topics returns the topic, and is asked when there is something to publish
     */
    KvEventSockets(ZContext context, KvEventSettings settings, int replicaIndex, Supplier<String> topics) {
        this.topics = topics;
        bufferSteps = settings.bufferSteps();
        pub = context.createSocket(SocketType.PUB);
        pub.setHWM(settings.hwm());
        pub.setLinger(0);
        pub.setHandshakeIvl(HANDSHAKE_MILLIS);
        String endpoint = KvEventSettings.forReplica(settings.endpoint(), replicaIndex);
        if (KvEventSettings.binds(settings.endpoint())) {
            pub.bind(endpoint);
        } else {
            pub.connect(endpoint);
        }
        replay = settings.hasReplay() ? router(context, settings, replicaIndex) : null;
        // Asked for now, since later these sockets belong to another thread than those who want to know.
        boundEndpoint = pub.getLastEndpoint();
        boundReplayEndpoint = replay == null ? "" : replay.getLastEndpoint();
    }

    private static ZMQ.Socket router(ZContext context, KvEventSettings settings, int replicaIndex) {
        var router = context.createSocket(SocketType.ROUTER);
        // A full buffer is sent at once; with a mark below that a ROUTER would drop the rest.
        router.setSndHWM(0);
        router.setLinger(0);
        router.bind(KvEventSettings.forReplica(settings.replayEndpoint(), replicaIndex));
        return router;
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

    /** Forgets what was published; a replica that has restarted counts from 0 again. */
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

    private void sendFrom(ZMQ.Socket router, byte[] client, long start) {
        for (var published : buffer) {
            if (published.sequence >= start) {
                send(router, client, topic(), bigEndian(published.sequence), published.payload);
            }
        }
        send(router, client, EMPTY, END_OF_REPLAY, EMPTY);
    }

    private static void send(ZMQ.Socket router, byte[] client, byte[] topic, byte[] sequence, byte[] payload) {
        router.sendMore(client);
        router.sendMore(EMPTY);
        router.sendMore(topic);
        router.sendMore(sequence);
        router.send(payload);
    }

    private static byte[] bigEndian(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}

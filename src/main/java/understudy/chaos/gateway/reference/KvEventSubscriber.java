package understudy.chaos.gateway.reference;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Receives the KV events of all replicas on a thread of its own. ZeroMQ connects again by itself. */
final class KvEventSubscriber implements AutoCloseable {
    private static final int POLL_MILLIS = 50;
    private static final int HANDSHAKE_MILLIS = 500;
    private static final int MAX_RECONNECT_MILLIS = 500;
    private static final int NUM_FRAMES = 3;

    private final ZContext context = new ZContext();
    private final List<ZMQ.Socket> sockets = new ArrayList<>();
    private final List<Integer> replicas = new ArrayList<>();
    private final ObjIntConsumer<KvEventBatch> consumer;
    private final Thread thread;
    private volatile boolean isClosed;

    /**
     * Subscribes.
     *
     * @param addresses of each replica's PUB socket, null for one without events
     * @param consumer gets each batch and the index of its replica
     */
    KvEventSubscriber(List<@Nullable URI> addresses, ObjIntConsumer<KvEventBatch> consumer) {
        this.consumer = consumer;
        for (int i = 0; i < addresses.size(); i++) {
            var address = addresses.get(i);
            if (address != null) {
                sockets.add(subscribed(address));
                replicas.add(i);
            }
        }
        thread = new Thread(this::run, "reference-gateway-events");
        thread.setDaemon(true);
        thread.start();
    }

    private ZMQ.Socket subscribed(URI address) {
        var socket = context.createSocket(SocketType.SUB);
        socket.setLinger(0);
        socket.setHandshakeIvl(HANDSHAKE_MILLIS);
        socket.setReconnectIVLMax(MAX_RECONNECT_MILLIS);
        socket.subscribe(new byte[0]);
        socket.connect(address.toString());
        return socket;
    }

    private void run() {
        try (var poller = context.createPoller(Math.max(1, sockets.size()))) {
            sockets.forEach(socket -> poller.register(socket, ZMQ.Poller.POLLIN));
            while (!isClosed) {
                poller.poll(POLL_MILLIS);
                for (int i = 0; i < sockets.size(); i++) {
                    receive(sockets.get(i), replicas.get(i));
                }
            }
        } finally {
            context.close();
        }
    }

    private void receive(ZMQ.Socket socket, int replica) {
        for (byte[] topic = socket.recv(ZMQ.DONTWAIT); topic != null; topic = socket.recv(ZMQ.DONTWAIT)) {
            var frames = new ArrayList<byte[]>(List.of(topic));
            while (socket.hasReceiveMore()) {
                frames.add(socket.recv());
            }
            accept(frames, replica);
        }
    }

    /** What is no batch is as good as lost, which its number will tell. */
    private void accept(List<byte[]> frames, int replica) {
        if (frames.size() != NUM_FRAMES || frames.get(1).length != Long.BYTES) {
            return;
        }
        try {
            long sequence = ByteBuffer.wrap(frames.get(1)).getLong();
            consumer.accept(KvEventDecoder.decode(sequence, frames.get(2)), replica);
        } catch (IOException e) {
            return;
        }
    }

    @Override
    public void close() {
        isClosed = true;
        try {
            thread.join(TimeUnit.SECONDS.toMillis(2));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

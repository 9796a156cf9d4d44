package understudy.api.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import understudy.Waiting;
import understudy.cluster.ClusterEvent;
import understudy.kvcache.KvEvent;

/** What strangers may do to the sockets of KV events, and what ends with jeromq's threads. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class HostileKvEventPeersTest {
    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    /** ZMTP 3.0's greeting, and the signature at its beginning. */
    private static final int GREETING_BYTES = 64;

    private static final int SIGNATURE_BYTES = 10;

    /** Frame whose nine bytes of header announce 2 GiB - 1. */
    private static final byte[] HUGE_FRAME = ByteBuffer.allocate(10)
            .put((byte) 2)
            .putLong(Integer.MAX_VALUE)
            .put((byte) 'x')
            .array();

    @Test
    void hugeFrame_endsTheConnectionToTheReplaySocketOnly() throws IOException {
        try (var publisher = new KvEventPublisher(settings(ANY_PORT, ANY_PORT, 10), 1, 0)) {
            try (var socket = connect(publisher.replayEndpoint(0))) {
                assertThat(attack(socket, "DEALER")).isTrue();
            }
            publisher.accept(batch(0));

            // The batch, and the mark at the end.
            assertThat(ReplayClient.ask(publisher.replayEndpoint(0), 0)).hasSize(2);
            assertThat(publisher.whenFailed().toCompletableFuture()).isNotDone();
        }
    }

    @Test
    void hugeFrame_endsTheConnectionToThePubSocketOnly() throws IOException {
        try (var publisher = new KvEventPublisher(settings(ANY_PORT, ANY_PORT, 10), 1, 0)) {
            try (var socket = connect(publisher.endpoint(0))) {
                assertThat(attack(socket, "SUB")).isTrue();
            }

            assertStillPublishes(publisher);
        }
    }

    @Test
    void hugeFrame_ofASubscriberThatIsConnectedTo_doesNoHarm() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var publisher = new KvEventPublisher(
                        settings("tcp://127.0.0.1:" + server.getLocalPort(), ANY_PORT, 10), 1, 0)) {
            acceptUntilAttacked(server);
            publisher.accept(batch(0));

            assertThat(ReplayClient.ask(publisher.replayEndpoint(0), 0)).hasSize(2);
        }
    }

    @Test
    void clientThatAsksWithoutReading_isAnsweredUpToABound() {
        // Two buffers of 100 batches and two messages are 202; sockets hold some more.
        var settings = settings(ANY_PORT, ANY_PORT, 100);
        try (var publisher = new KvEventPublisher(settings, 1, 0);
                var context = new ZContext()) {
            for (int i = 0; i < 100; i++) {
                publisher.accept(new KvEventBatch(0, i, 16, List.of(new KvEvent.Removed(manyHashes()))));
            }
            var dealer = context.createSocket(SocketType.DEALER);
            dealer.setReceiveBufferSize(1 << 16);
            dealer.setRcvHWM(1);
            dealer.setReceiveTimeOut(30_000);
            dealer.connect(publisher.replayEndpoint(0));
            int numAsked = 200;
            for (int i = 0; i < numAsked; i++) {
                dealer.sendMore(new byte[0]);
                dealer.send(new byte[Long.BYTES]);
            }
            // One who comes later is answered when all of these have been.
            assertThat(ReplayClient.ask(publisher.replayEndpoint(0), 99)).hasSize(2);

            int numMessages = 0;
            while (dealer.recv() != null) {
                numMessages += dealer.hasReceiveMore() ? 0 : 1;
                dealer.setReceiveTimeOut(1000);
            }
            assertThat(numMessages).isBetween(100, numAsked * 101 / 2);
        }
    }

    @Test
    void deadThreadOfJeromq_failsThePublisherAndDoesNotKeepItOpen() {
        var publisher = new KvEventPublisher(
                settings(ANY_PORT, "", 10),
                1,
                0,
                (task, name) -> new Thread(name.startsWith("iothread") ? HostileKvEventPeersTest::die : task, name));

        assertThat(publisher.whenFailed().toCompletableFuture().join()).hasMessage("of a test");
        publisher.close();
    }

    @Test
    void removedReplica_givesItsPortsBack() throws IOException {
        try (var publisher = new KvEventPublisher(settings(ANY_PORT, ANY_PORT, 10), 1, 0)) {
            publisher.accept(new ClusterEvent.KvCacheStarted(1));
            awaitOpen(publisher, 1);
            int port = port(publisher.endpoint(1));
            int replayPort = port(publisher.replayEndpoint(1));

            publisher.accept(new ClusterEvent.KvCacheEnded(1));

            awaitFree(port);
            awaitFree(replayPort);
        }
    }

    @Test
    void addressOfIpv6_isConnectedTo() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getAllByName("::1")[0]);
                var publisher = new KvEventPublisher(
                        settings("tcp://[::1]:" + server.getLocalPort(), "tcp://[::1]:*", 10), 1, 0)) {
            server.accept().close();

            assertThat(publisher.isBound()).isFalse();
            publisher.accept(batch(0));
            assertThat(ReplayClient.ask(publisher.replayEndpoint(0), 0)).hasSize(2);
        }
    }

    @Test
    void nameThatIsNotKnownYet_doesNotKeepThePublisherFromItsStart() {
        try (var publisher = new KvEventPublisher(settings("tcp://no-such-host.invalid:5557", ANY_PORT, 10), 2, 0)) {
            assertThat(publisher.endpoint(1)).isEqualTo("tcp://no-such-host.invalid:5558");
            publisher.accept(batch(0));

            assertThat(ReplayClient.ask(publisher.replayEndpoint(0), 0)).hasSize(2);
        }
    }

    private static void die() {
        throw new OutOfMemoryError("of a test");
    }

    private static KvEventSettings settings(String endpoint, String replayEndpoint, int bufferSteps) {
        return new KvEventSettings(
                endpoint, replayEndpoint, bufferSteps, 10_000, 10_000, "t", KvEventSettings.Format.MAP);
    }

    private static KvEventBatch batch(int i) {
        return new KvEventBatch(0, i, 16, List.of(new KvEvent.Removed(LongList.of(i))));
    }

    /** Some 90 kB. */
    private static LongList manyHashes() {
        return LongList.of(
                LongStream.range(0, 10_000).map(i -> Long.MAX_VALUE - i).toArray());
    }

    /** A connection that jeromq makes may be stuck; it tries again. See {@link KvEventSockets#HANDSHAKE_MILLIS}. */
    private static void acceptUntilAttacked(ServerSocket server) throws IOException {
        boolean isAttacked = false;
        while (!isAttacked) {
            try (var socket = server.accept()) {
                isAttacked = attack(socket, "SUB");
            }
        }
    }

    /**
     * Greets as ZMTP 3.0 does without security, says what socket it is, and announces a huge frame.
     *
     * @return whether the other side has greeted; if not, it has ended the connection before
     */
    private static boolean attack(Socket socket, String socketType) throws IOException {
        var greeting = ByteBuffer.allocate(GREETING_BYTES)
                .put((byte) 0xff)
                .put(new byte[8])
                .put(new byte[] {0x7f, 3, 0});
        greeting.put("NULL".getBytes(StandardCharsets.US_ASCII));
        var out = socket.getOutputStream();
        var in = socket.getInputStream();
        // First the signature alone, as libzmq does: behind a whole greeting a stuck connection has no time-out.
        out.write(greeting.array(), 0, SIGNATURE_BYTES);
        if (readUpTo(SIGNATURE_BYTES, in) < SIGNATURE_BYTES) {
            return false;
        }
        out.write(greeting.array(), SIGNATURE_BYTES, GREETING_BYTES - SIGNATURE_BYTES);
        in.readNBytes(GREETING_BYTES - SIGNATURE_BYTES);
        var type = socketType.getBytes(StandardCharsets.US_ASCII);
        var ready = ByteBuffer.allocate(23 + type.length)
                .put((byte) 5)
                .put("READY".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 11)
                .put("Socket-Type".getBytes(StandardCharsets.US_ASCII))
                .putInt(type.length)
                .put(type);
        out.write(new byte[] {4, (byte) ready.position()});
        out.write(ready.array(), 0, ready.position());
        readCommand(in);
        out.write(HUGE_FRAME);
        readUpTo(Integer.MAX_VALUE, in);
        return true;
    }

    /** Reads so many bytes, fewer if the connection ends, by an orderly end or by a reset; returns how many. */
    private static int readUpTo(int max, InputStream in) throws IOException {
        int count = 0;
        try {
            while (count < max && in.read() >= 0) {
                count++;
            }
        } catch (IOException reset) {
            assertThat(reset).hasMessageContaining("reset");
        }
        return count;
    }

    private static void readCommand(InputStream in) throws IOException {
        assertThat(in.read()).isEqualTo(4);
        in.readNBytes(in.read());
    }

    private static void assertStillPublishes(KvEventPublisher publisher) {
        try (var context = new ZContext()) {
            var sub = context.createSocket(SocketType.SUB);
            sub.subscribe("t");
            sub.setHandshakeIvl(KvEventSockets.HANDSHAKE_MILLIS);
            sub.setReceiveTimeOut(10);
            sub.connect(publisher.endpoint(0));
            byte[] topic = null;
            for (int i = 0; i < 1000 && topic == null; i++) {
                publisher.accept(batch(0));
                topic = sub.recv();
            }
            assertThat(topic).isNotNull();
        }
    }

    private static Socket connect(String endpoint) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port(endpoint));
    }

    private static int port(String endpoint) {
        return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    }

    private static void awaitOpen(KvEventPublisher publisher, int replica) {
        Waiting.until(() -> publisher.hasSockets(replica));
    }

    private static void awaitFree(int port) {
        Waiting.until(() -> isFree(port));
    }

    private static boolean isFree(int port) {
        try {
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            return false;
        } catch (ConnectException e) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

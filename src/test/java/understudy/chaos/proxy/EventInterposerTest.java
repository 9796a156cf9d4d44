package understudy.chaos.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import understudy.chaos.proxy.EventInterposer.Fault;
import understudy.runtime.Stopwatch;

/** Batches of a publisher, numbered from 100, as a subscriber behind the kit gets them. */
final class EventInterposerTest {
    private static final int FIRST = 100;

    private final ZContext context = new ZContext();
    private final EventInterposer events = new EventInterposer("r");
    private ZMQ.Socket engine;
    private ZMQ.Socket gateway;

    @BeforeEach
    void connect() {
        engine = context.createSocket(SocketType.XPUB);
        engine.bind("tcp://127.0.0.1:*");
        gateway = context.createSocket(SocketType.SUB);
        gateway.subscribe(new byte[0]);
        gateway.setReceiveTimeOut(100);
        gateway.connect(events.address().toString());
        events.forwardFrom(URI.create(engine.getLastEndpoint()));
        // A subscription of the kit has come.
        engine.setReceiveTimeOut(10_000);
        assertThat(engine.recv()).startsWith(1);
        var waiting = Stopwatch.start();
        while (gateway.recv() == null) {
            assertThat(waiting.seconds()).isLessThan(10);
            publish(0);
        }
        while (gateway.recv() != null) {
            // The rest of what was sent until the subscription of the gateway had come.
        }
    }

    @AfterEach
    void close() {
        events.close();
        context.close();
    }

    private void publish(long sequence) {
        engine.sendMore("topic");
        engine.sendMore(ByteBuffer.allocate(8).putLong(sequence).array());
        engine.send("payload");
    }

    /** Publishes eight batches, and returns the numbers of those that come. */
    private List<Long> pass(Fault fault, int delayMillis) {
        events.set(fault, delayMillis);
        for (int i = 0; i < 8; i++) {
            publish(FIRST + i);
        }
        var numbers = new ArrayList<Long>();
        for (byte[] topic = gateway.recv(); topic != null; topic = gateway.recv()) {
            assertThat(new String(topic, StandardCharsets.US_ASCII)).isEqualTo("topic");
            numbers.add(ByteBuffer.wrap(gateway.recv()).getLong());
            assertThat(gateway.recvStr()).isEqualTo("payload");
        }
        return numbers;
    }

    @Test
    void batchesAreAsTheFaultWantsThem() {
        assertThat(pass(Fault.NONE, 0)).containsExactly(100L, 101L, 102L, 103L, 104L, 105L, 106L, 107L);
        assertThat(pass(Fault.TWICE, 0)).hasSize(16).startsWith(100L, 100L, 101L, 101L);
        // Two or three of eight, by where the count of three stands.
        assertThat(pass(Fault.LOST, 0)).hasSizeBetween(5, 6);
        assertThat(pass(Fault.OUT_OF_ORDER, 0)).containsExactly(103L, 102L, 101L, 100L, 107L, 106L, 105L, 104L);
        assertThat(pass(Fault.RESTARTED_SEQUENCE, 0)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    }

    @Test
    void lateBatchesComeAfterTheirTime() {
        gateway.setReceiveTimeOut(2000);
        var waiting = Stopwatch.start();
        assertThat(pass(Fault.LATE, 300)).hasSize(8);
        assertThat(waiting.seconds()).isGreaterThanOrEqualTo(0.3);
    }
}

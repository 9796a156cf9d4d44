package understudy.chaos.proxy;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePackException;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import understudy.runtime.Stopwatch;

/**
 * The address at which a gateway subscribes to the KV events of a replica. It passes each batch of the engine on, late,
 * not at all, twice or in another order, as the fault wants that is set. Any thread may use it; a thread of its own does
 * the work.
 */
public final class EventInterposer implements AutoCloseable {
    private static final int POLL_MILLIS = 10;
    private static final int HANDSHAKE_MILLIS = 500;
    private static final long JOIN_MILLIS = 2000;

    /** Batches that may be held back at a time; others are lost. */
    private static final int MAX_HELD = 10_000;

    private static final int LOST_EVERY = 3;
    private static final int SHUFFLED = 4;
    private static final int SEQUENCE_FRAME = 1;
    private static final int PAYLOAD_FRAME = 2;

    private final ZContext context = new ZContext();
    private final Stopwatch stopwatch = Stopwatch.start();
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private final AtomicReference<@Nullable URI> wanted = new AtomicReference<>();
    private final ZMQ.Socket pub;
    private final URI address;
    private final Thread thread;
    private volatile Fault fault = Fault.NONE;
    private volatile long delayNanos;
    private volatile boolean isClosed;
    private long numSeen;
    private long firstSequence = -1;
    private DoubledBlocks doubled = new DoubledBlocks();

    /** A batch that is passed on later. */
    private record Held(long dueNanos, List<byte[]> frames) {}

    /** What is wrong with the events. */
    public enum Fault {
        /** Nothing. */
        NONE,
        /** They come later. */
        LATE,
        /** Every third batch is missing. */
        LOST,
        /** Each batch comes twice. */
        TWICE,
        /** Each four batches come in the opposite order. */
        OUT_OF_ORDER,
        /** The numbers of batches begin again at 0. */
        RESTARTED_SEQUENCE,
        /** Blocks have twice as many tokens. */
        DOUBLED_BLOCKS
    }

    /** Opens the address, at a port that is free. */
    public EventInterposer(String name) {
        pub = context.createSocket(SocketType.PUB);
        pub.setLinger(0);
        pub.setHandshakeIvl(HANDSHAKE_MILLIS);
        pub.bind("tcp://127.0.0.1:*");
        address = URI.create(pub.getLastEndpoint());
        thread = new Thread(this::run, "chaos-events-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns where gateways subscribe. */
    public URI address() {
        return address;
    }

    /** Passes on the events of another engine from now on. */
    public void forwardFrom(URI engine) {
        wanted.set(engine);
    }

    /** Changes what is wrong; {@code millis} is the delay of events that come late. */
    public void set(Fault next, int millis) {
        delayNanos = TimeUnit.MILLISECONDS.toNanos(millis);
        fault = next;
    }

    private void run() {
        ZMQ.Socket sub = null;
        while (!isClosed) {
            var next = wanted.getAndSet(null);
            if (next != null) {
                close(sub);
                sub = subscribed(next);
                held.clear();
                doubled = new DoubledBlocks();
            }
            passDue();
            var frames = sub == null ? nothing() : receive(sub);
            if (!frames.isEmpty()) {
                pass(frames);
            }
        }
        close(sub);
        pub.close();
    }

    private ZMQ.Socket subscribed(URI engine) {
        var sub = context.createSocket(SocketType.SUB);
        sub.setLinger(0);
        sub.setHandshakeIvl(HANDSHAKE_MILLIS);
        sub.setReceiveTimeOut(POLL_MILLIS);
        sub.subscribe(new byte[0]);
        sub.connect(engine.toString());
        return sub;
    }

    private static void close(ZMQ.@Nullable Socket sub) {
        if (sub != null) {
            sub.close();
        }
    }

    private static List<byte[]> nothing() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS));
        return List.of();
    }

    private static List<byte[]> receive(ZMQ.Socket sub) {
        var frames = new ArrayList<byte[]>();
        byte[] frame = sub.recv();
        while (frame != null) {
            frames.add(frame);
            frame = sub.hasReceiveMore() ? sub.recv() : null;
        }
        return frames;
    }

    private void pass(List<byte[]> frames) {
        numSeen++;
        switch (fault) {
            case NONE -> {
                firstSequence = -1;
                send(frames);
            }
            case LATE -> hold(frames, stopwatch.nanos() + delayNanos);
            case LOST -> {
                if (numSeen % LOST_EVERY != 0) {
                    send(frames);
                }
            }
            case TWICE -> {
                send(frames);
                send(frames);
            }
            case OUT_OF_ORDER -> {
                hold(frames, Long.MAX_VALUE);
                if (held.size() >= SHUFFLED) {
                    var all = new ArrayList<>(held);
                    held.clear();
                    Collections.reverse(all);
                    all.forEach(each -> send(each.frames));
                }
            }
            case RESTARTED_SEQUENCE -> send(renumbered(frames));
            case DOUBLED_BLOCKS -> send(withDoubledBlocks(frames));
        }
    }

    private void hold(List<byte[]> frames, long dueNanos) {
        if (held.size() < MAX_HELD) {
            held.add(new Held(dueNanos, frames));
        }
    }

    private void passDue() {
        boolean isOver = fault != Fault.LATE && fault != Fault.OUT_OF_ORDER;
        while (!held.isEmpty() && (isOver || held.getFirst().dueNanos <= stopwatch.nanos())) {
            send(held.removeFirst().frames);
        }
    }

    private List<byte[]> renumbered(List<byte[]> frames) {
        if (frames.size() <= SEQUENCE_FRAME || frames.get(SEQUENCE_FRAME).length != Long.BYTES) {
            return frames;
        }
        long sequence = ByteBuffer.wrap(frames.get(SEQUENCE_FRAME)).getLong();
        firstSequence = firstSequence < 0 ? sequence : firstSequence;
        var changed = new ArrayList<>(frames);
        changed.set(
                SEQUENCE_FRAME,
                ByteBuffer.allocate(Long.BYTES)
                        .putLong(sequence - firstSequence)
                        .array());
        return changed;
    }

    private List<byte[]> withDoubledBlocks(List<byte[]> frames) {
        if (frames.size() <= PAYLOAD_FRAME) {
            return frames;
        }
        try {
            var changed = new ArrayList<>(frames);
            changed.set(PAYLOAD_FRAME, doubled.doubled(frames.get(PAYLOAD_FRAME)));
            return changed;
        } catch (IOException | MessagePackException e) {
            return frames;
        }
    }

    private void send(List<byte[]> frames) {
        for (int i = 0; i < frames.size(); i++) {
            if (i < frames.size() - 1) {
                pub.sendMore(frames.get(i));
            } else {
                pub.send(frames.get(i));
            }
        }
    }

    @Override
    public void close() {
        isClosed = true;
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        context.close();
    }
}

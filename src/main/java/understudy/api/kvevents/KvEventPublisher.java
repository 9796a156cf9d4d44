package understudy.api.kvevents;

import it.unimi.dsi.fastutil.ints.Int2LongOpenHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;
import org.zeromq.ZMQException;
import understudy.cluster.ClusterEvent;

/**
 * Publishes the KV events of all replicas by ZeroMQ, as vLLM does, on a thread of its own.
 *
 * <p>It differs from vLLM in one way: when too many batches wait to be published, vLLM holds up its scheduler; here the
 * emulation goes on, and the batch is lost. Its sequence number is used up, so subscribers see the gap.
 */
public final class KvEventPublisher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KvEventPublisher.class);
    private static final long REPLAY_POLL_MILLIS = 20;

    /** Time for the last batches to be published; jeromq's end waits for its threads, one of which may have died. */
    private static final long CLOSE_LIMIT_MILLIS = 3000;

    private final KvEventSettings settings;
    private final KvEventEncoder encoder;
    private final ZContext context = new ZContext();
    private final Map<Integer, KvEventSockets> sockets = new ConcurrentHashMap<>();
    private final Int2LongOpenHashMap nextSequences = new Int2LongOpenHashMap();
    private final LinkedBlockingQueue<Item> queue = new LinkedBlockingQueue<>();
    private final AtomicInteger numQueued = new AtomicInteger();
    private final AtomicLong numDropped = new AtomicLong();
    private final PeerName peer;
    private final Thread thread;
    private volatile KvEventNames names = new KvEventNames("", "", replica -> 0, "");
    private volatile boolean isClosed;
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /** Queued batch with its number; without a batch, the replica has started or restarted, or has left. */
    private record Item(
            int replicaIndex, long sequence, @Nullable KvEventBatch batch, boolean isLast) {
        static Item of(KvEventBatch batch, long sequence) {
            return new Item(batch.replicaIndex(), sequence, batch, false);
        }

        static Item start(int replicaIndex) {
            return new Item(replicaIndex, 0, null, false);
        }

        static Item end(int replicaIndex) {
            return new Item(replicaIndex, 0, null, true);
        }
    }

    /**
     * Opens the sockets of the first replicas, and starts to publish; those that join later get theirs then.
     *
     * @param epochSeconds the time stamp that stands for virtual time 0, in seconds since 1970
     * @throws IllegalStateException if an endpoint cannot be had; the message names it
     */
    public KvEventPublisher(KvEventSettings settings, int numReplicas, double epochSeconds) {
        this(settings, numReplicas, epochSeconds, Thread::new);
    }

    /** @param threads makes the threads of jeromq, of a task and a name */
    KvEventPublisher(
            KvEventSettings settings,
            int numReplicas,
            double epochSeconds,
            BiFunction<Runnable, String, Thread> threads) {
        this.settings = settings;
        context.setThreadFactor((task, name) -> watched(threads.apply(task, name)));
        peer = new PeerName(settings.endpoint());
        encoder = new KvEventEncoder(settings.format(), epochSeconds);
        // Sockets are opened by the thread that uses them.
        var opened = new CompletableFuture<Void>();
        thread = new Thread(() -> run(numReplicas, opened), "kv-events");
        thread.setDaemon(true);
        thread.start();
        try {
            opened.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** Creates an actor that subscribes a publisher to a cluster; several may feed one publisher. */
    public static Behavior<ClusterEvent> feed(KvEventPublisher publisher) {
        return Behaviors.receiveMessage(event -> {
            publisher.accept(event);
            return Behaviors.same();
        });
    }

    /** Sets the names for topics besides the replica; to be called before the first event. */
    public void publishUnder(KvEventNames known) {
        names = known;
    }

    /** Accepts an event of a cluster; never waits. */
    public void accept(ClusterEvent event) {
        if (event instanceof ClusterEvent.KvCacheChanged changed) {
            accept(changed.replicaIndex(), changed.kvCache());
        } else if (event instanceof ClusterEvent.KvCacheStarted started) {
            restart(started.replicaIndex());
        } else if (event instanceof ClusterEvent.KvCacheEnded ended) {
            end(ended.replicaIndex());
        }
    }

    private void accept(int replicaIndex, ClusterEvent.KvCacheState state) {
        if (!state.events().isEmpty()) {
            accept(new KvEventBatch(replicaIndex, state.atNanos(), state.blockSize(), state.events()));
        }
    }

    synchronized void accept(KvEventBatch batch) {
        long sequence = nextSequences.addTo(batch.replicaIndex(), 1);
        if (numQueued.get() < settings.maxQueueSize()) {
            numQueued.incrementAndGet();
            queue.add(Item.of(batch, sequence));
        } else {
            numDropped.incrementAndGet();
        }
    }

    private synchronized void restart(int replicaIndex) {
        nextSequences.put(replicaIndex, 0);
        queue.add(Item.start(replicaIndex));
    }

    private synchronized void end(int replicaIndex) {
        nextSequences.remove(replicaIndex);
        queue.add(Item.end(replicaIndex));
    }

    /**
     * Returns the address to subscribe to, with its port even if the endpoint leaves that open; replicas count from 0.
     */
    public String endpoint(int replicaIndex) {
        return socketsOf(replicaIndex).endpoint();
    }

    /** Returns whether others connect to the address, rather than this publisher to one of theirs. */
    public boolean isBound() {
        return KvEventSettings.binds(settings.endpoint());
    }

    /** Returns the address to ask for missed batches, or empty if there is none. */
    public String replayEndpoint(int replicaIndex) {
        return socketsOf(replicaIndex).replayEndpoint();
    }

    /** Returns how many batches of a replica there have been since it began. */
    public synchronized long numBatches(int replicaIndex) {
        return nextSequences.get(replicaIndex);
    }

    /** Returns how many batches were lost because too many were waiting. */
    public long numDropped() {
        return numDropped.get();
    }

    /** Completes with the reason if events can no longer be published. */
    public CompletionStage<Throwable> whenFailed() {
        return failure;
    }

    /** Publishes what is waiting, then closes the sockets, unless that takes too long. */
    @Override
    public void close() {
        isClosed = true;
        try {
            thread.join(CLOSE_LIMIT_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean hasSockets(int replicaIndex) {
        return sockets.containsKey(replicaIndex);
    }

    private KvEventSockets socketsOf(int replicaIndex) {
        return Objects.requireNonNull(sockets.get(replicaIndex), () -> "no KV events of replica " + replicaIndex);
    }

    private void run(int numReplicas, CompletableFuture<Void> opened) {
        try {
            for (int i = 0; i < numReplicas; i++) {
                open(i);
            }
            opened.complete(null);
            publishUntilClosed();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            if (!opened.completeExceptionally(e)) {
                fail(e);
            }
        } finally {
            context.close();
        }
    }

    /** Without one of its threads jeromq does nothing more, and says nothing. */
    private Thread watched(Thread made) {
        made.setDaemon(true);
        made.setUncaughtExceptionHandler((dead, cause) -> fail(cause));
        return made;
    }

    private void fail(Throwable cause) {
        if (failure.complete(cause)) {
            LOG.error("KV events are no longer published", cause);
        }
    }

    private void publishUntilClosed() throws InterruptedException {
        while (!isClosed || !queue.isEmpty()) {
            var item = queue.poll(REPLAY_POLL_MILLIS, TimeUnit.MILLISECONDS);
            if (item != null) {
                publish(item);
                publishQueued();
            }
            sockets.values().forEach(this::serve);
        }
    }

    private void serve(KvEventSockets each) {
        each.connectIfKnown();
        each.answerReplays(this::publishQueued);
    }

    private void publishQueued() {
        for (var item = queue.poll(); item != null; item = queue.poll()) {
            publish(item);
        }
    }

    private void publish(Item item) {
        if (item.isLast) {
            close(item.replicaIndex);
        } else if (item.batch == null) {
            openOrRestart(item.replicaIndex);
        } else {
            numQueued.decrementAndGet();
            publish(item.sequence, item.batch);
        }
    }

    private void publish(long sequence, KvEventBatch batch) {
        var target = sockets.get(batch.replicaIndex());
        if (target != null) {
            target.publish(sequence, encoder.encode(batch));
        }
    }

    private void close(int replicaIndex) {
        var left = sockets.remove(replicaIndex);
        if (left != null) {
            left.close();
        }
    }

    private void openOrRestart(int replicaIndex) {
        var known = sockets.get(replicaIndex);
        if (known != null) {
            known.restart();
            return;
        }
        try {
            open(replicaIndex);
        } catch (IllegalStateException | IllegalArgumentException e) {
            LOG.error("no KV events of replica {}: {}", replicaIndex, e.getMessage());
        }
    }

    private void open(int replicaIndex) {
        try {
            sockets.put(
                    replicaIndex,
                    new KvEventSockets(
                            context, settings, replicaIndex, peer, () -> names.in(settings.topic(), replicaIndex)));
        } catch (ZMQException e) {
            throw new UnusableEndpointException(
                    "KV events of replica " + replicaIndex + ": cannot use "
                            + KvEventSettings.forReplica(settings.endpoint(), replicaIndex)
                            + (settings.hasReplay()
                                    ? " or " + KvEventSettings.forReplica(settings.replayEndpoint(), replicaIndex)
                                    : "")
                            + ": " + e.getMessage(),
                    e);
        }
    }
}

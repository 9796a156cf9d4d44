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

    private final KvEventSettings settings;
    private final KvEventEncoder encoder;
    private final ZContext context = new ZContext();
    private final Map<Integer, KvEventSockets> sockets = new ConcurrentHashMap<>();
    private final Int2LongOpenHashMap nextSequences = new Int2LongOpenHashMap();
    private final LinkedBlockingQueue<Item> queue = new LinkedBlockingQueue<>();
    private final AtomicInteger numQueued = new AtomicInteger();
    private final AtomicLong numDropped = new AtomicLong();
    private final Thread thread;
    private volatile KvEventNames names = new KvEventNames("", "", replica -> 0, "");
    private volatile boolean isClosed;
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /** Queued batch with its number; without a batch, the replica has restarted. */
    private record Item(
            int replicaIndex, long sequence, @Nullable KvEventBatch batch) {}

    /**
     * Opens the sockets of the first replicas, and starts to publish; those that join later get theirs then.
     *
     * @param epochSeconds the time stamp that stands for virtual time 0, in seconds since 1970
     * @throws IllegalStateException if an endpoint cannot be had; the message names it
     */
    public KvEventPublisher(KvEventSettings settings, int numReplicas, double epochSeconds) {
        this.settings = settings;
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
        if (event instanceof ClusterEvent.StepEnded step) {
            accept(step.replicaIndex(), step.kvCache());
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            accept(changed.replicaIndex(), changed.kvCache());
        } else if (event instanceof ClusterEvent.KvCacheStarted started) {
            restart(started);
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
            queue.add(new Item(batch.replicaIndex(), sequence, batch));
        } else {
            numDropped.incrementAndGet();
        }
    }

    private synchronized void restart(ClusterEvent.KvCacheStarted started) {
        nextSequences.put(started.replicaIndex(), 0);
        queue.add(new Item(started.replicaIndex(), 0, null));
    }

    /**
     * Returns the address to subscribe to, with its port even if the endpoint leaves that open; replicas count from 0.
     */
    public String endpoint(int replicaIndex) {
        return socketsOf(replicaIndex).endpoint();
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

    /** Publishes what is waiting, then closes the sockets. */
    @Override
    public void close() {
        isClosed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private KvEventSockets socketsOf(int replicaIndex) {
        return Objects.requireNonNull(sockets.get(replicaIndex), () -> "no KV events of replica " + replicaIndex);
    }

    private void run(int numReplicas, CompletableFuture<Void> opened) {
        try (context) {
            for (int i = 0; i < numReplicas; i++) {
                open(i);
            }
            opened.complete(null);
            publishUntilClosed();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            if (!opened.completeExceptionally(e)) {
                LOG.error("KV events are no longer published", e);
                failure.complete(e);
            }
        }
    }

    private void publishUntilClosed() throws InterruptedException {
        while (!isClosed || !queue.isEmpty()) {
            var item = queue.poll(REPLAY_POLL_MILLIS, TimeUnit.MILLISECONDS);
            if (item != null) {
                publish(item);
                publishQueued();
            }
            sockets.values().forEach(each -> each.answerReplays(this::publishQueued));
        }
    }

    private void publishQueued() {
        for (var item = queue.poll(); item != null; item = queue.poll()) {
            publish(item);
        }
    }

    private void publish(Item item) {
        if (item.batch == null) {
            restart(item.replicaIndex);
            return;
        }
        numQueued.decrementAndGet();
        var target = sockets.get(item.replicaIndex);
        if (target != null) {
            target.publish(item.sequence, encoder.encode(item.batch));
        }
    }

    private void restart(int replicaIndex) {
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
                            context, settings, replicaIndex, () -> names.in(settings.topic(), replicaIndex)));
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

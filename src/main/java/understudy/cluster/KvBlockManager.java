package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.orders.OrderAnswers;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.KvEvent;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.Settlement;
import understudy.kvcache.connector.KvTransferParams;
import understudy.report.transfers.KvTraffic;
import understudy.routing.LoadReport;
import understudy.runtime.Clock;

/**
 * Block manager of one replica: owns its KV memory, grants or refuses blocks, finds cached prefixes. It never decides
 * who runs. Messages are told apart by type tests: it handles some in every step.
 */
public final class KvBlockManager extends ExtensibleBehavior<KvBlockManager.Command> {

    /** Messages of the block manager. */
    public sealed interface Command
            permits Ask,
                    Free,
                    Resize,
                    Settle,
                    TellState,
                    ReportLoad,
                    GetBlockHashes,
                    ResetPrefixCache,
                    Audit,
                    KvTransfers.Command {}

    /**
     * Puts a question of the scheduler; it is answered by {@link Answered} if the scheduler waits for that.
     *
     * @param before what is to be done first, or null for nothing
     */
    public record Ask(@Nullable Settle before, KvAsk ask, ActorRef<? super Answered> replyTo) implements Command {}

    /** Drops all blocks of a request that has ended before its time; see {@link KvCache#free}. */
    public record Free(
            int handle,
            long lastStep,
            long requestId,
            @Nullable KvTransferParams transferParams) implements Command {}

    /**
     * KV for these requests has come, or will not come; or blocks are free again.
     *
     * @param failed what could not be loaded, or null if all could
     */
    public record KvArrived(LongList requestIds, @Nullable FailedLoad failed) implements Replica.Command {}

    /** Blocks of a request that could not be loaded, and all that it holds. */
    public record FailedLoad(long requestId, IntList invalid, IntList table) {}

    /** Changes how many blocks there are, the null block included; see {@link KvCache#resize}. */
    public record Resize(int numGpuBlocks) implements Command {}

    /**
     * Caches blocks that a step has completed, frees requests that ended with it, and publishes what has changed.
     *
     * @param settlement what the step means for memory, or null for nothing
     * @param step event to be completed with the state of the memory, and told to the subscriber; null if there is none
     */
    public record Settle(@Nullable Settlement settlement, ClusterEvent.@Nullable StepEnded step) implements Command {}

    /** Tells the subscriber the state of the memory, at this virtual time. */
    public record TellState(long atNanos) implements Command {}

    /** Reports to the router, with the state of the memory; see {@link LoadReport}. */
    public record ReportLoad(LoadReport ofQueues) implements Command {}

    /** Asks for the hashes of all cached blocks. */
    public record GetBlockHashes(ActorRef<? super BlockHashes> replyTo) implements Command {}

    /** Forgets all cached content, at this virtual time; refused while any block is in use. Perhaps nobody asks. */
    public record ResetPrefixCache(@Nullable ActorRef<? super OrderAnswers.Done> replyTo, long atNanos)
            implements Command {}

    /** Recounts everything. */
    public record Audit(ActorRef<? super Audited> replyTo) implements Command {}

    /** The answer to {@link Ask}. */
    public record Answered(KvAnswer answer) implements Replica.Command {}

    /** The changes of one step of a replica, in order; never empty. */
    public record KvEvents(int replicaIndex, List<KvEvent> events) implements Router.Command {}

    /** The hash of every cached block, in no particular order; content held twice is there twice. */
    public record BlockHashes(LongList hashes) {}

    /**
     * The result of a recount.
     *
     * @param stats the lookups so far
     * @param peakUsage the largest share of blocks that were in use after a question, 0 to 1
     * @param freeOrder the free blocks in the order in which they would be given out
     * @param traffic with other memories; null without a connector
     */
    public record Audited(
            KvCacheAudit audit,
            PrefixCacheStats stats,
            double peakUsage,
            IntList freeOrder,
            @Nullable KvTraffic traffic)
            implements Replica.Command {}

    /**
     * What a memory is made with.
     *
     * @param before lookups in earlier memories of the same replica
     * @param replica the replica that it belongs to
     */
    public record Setup(
            Clock clock,
            ReplicaSpec spec,
            int replicaIndex,
            PrefixCacheStats before,
            ReplicaPeers peers,
            ActorRef<Replica.Command> replica) {}

    /** Makes the empty memory of a replica. A value: it makes any number of them. */
    @FunctionalInterface
    public interface Factory {
        Behavior<Command> create(Setup setup);
    }

    private final KvCache kvCache;
    private final int blockSize;
    private final int replicaIndex;
    private final ReplicaPeers peers;
    private final PrefixCacheStats before;
    private final @Nullable KvTransfers transfers;
    private double peakUsage;

    private KvBlockManager(ActorContext<Command> context, KvCache kvCache, Setup setup) {
        this.kvCache = kvCache;
        blockSize = setup.spec.kvCache().hasher().blockSize();
        replicaIndex = setup.replicaIndex;
        before = setup.before;
        peers = setup.peers;
        var connected = kvCache.connected();
        transfers = connected == null || setup.spec.transfers() == null
                ? null
                : new KvTransfers(context, connected, setup.spec.transfers(), setup);
    }

    /** Creates the empty memory of a replica; see {@link Factory}. */
    public static Behavior<Command> create(Setup setup) {
        return create(setup.spec.engine().createMemory(), setup);
    }

    /** Creates an actor before a memory that the caller has made. */
    public static Behavior<Command> create(KvCache kvCache, Setup setup) {
        return Behaviors.setup(context -> new KvBlockManager(context, kvCache, setup));
    }

    @Override
    public Behavior<Command> receive(TypedActorContext<Command> context, Command command) {
        if (command instanceof Ask ask) {
            onAsk(ask);
        } else if (command instanceof Settle settle) {
            onSettle(settle);
        } else if (command instanceof TellState tell) {
            tellState(tell.atNanos, List.of());
        } else if (command instanceof ReportLoad load) {
            reportLoad(load);
        } else if (command instanceof ResetPrefixCache reset) {
            onResetPrefixCache(reset);
        } else if (command instanceof Free free) {
            kvCache.abort(free.requestId, free.transferParams, free.handle, free.lastStep);
        } else if (command instanceof Resize resize) {
            kvCache.resize(resize.numGpuBlocks);
        } else if (command instanceof GetBlockHashes get) {
            get.replyTo.tell(new BlockHashes(new LongImmutableList(kvCache.blockHashes())));
        } else if (command instanceof Audit audit) {
            KvTransfers.audit(transfers, () -> onAudit(audit));
        } else if (command instanceof KvTransfers.Command transfer) {
            Objects.requireNonNull(transfers).on(transfer);
        }
        return this;
    }

    @Override
    public Behavior<Command> receiveSignal(TypedActorContext<Command> context, Signal signal) {
        if (signal instanceof ChildFailed failed) {
            throw new IllegalStateException(failed.getRef().path().name() + " has failed", failed.cause());
        }
        if (transfers != null && signal instanceof Terminated gone) {
            transfers.onHolderGone(gone.getRef());
        } else if (transfers != null && signal instanceof PostStop) {
            transfers.stop();
        }
        return this;
    }

    private void onAsk(Ask ask) {
        if (ask.before != null) {
            onSettle(ask.before);
        }
        var answer = kvCache.answer(ask.ask);
        peakUsage = Math.max(peakUsage, kvCache.usage());
        if (transfers != null && ask.ask instanceof KvAsk.EndPlan) {
            transfers.onPlanEnded(() -> ask.replyTo.tell(new Answered(answer)));
        } else if (ask.ask.awaitsAnswer()) {
            ask.replyTo.tell(new Answered(answer));
        }
    }

    private void onSettle(Settle settle) {
        if (settle.settlement != null) {
            kvCache.settle(settle.settlement);
            if (transfers != null) {
                transfers.onHeld();
            }
        }
        var events = takeEvents();
        var subscriber = peers.subscriber();
        if (subscriber != null && settle.step != null) {
            subscriber.tell(settle.step.withKvCache(state(settle.step.endNanos(), events)));
        }
    }

    private void tellState(long atNanos, List<KvEvent> events) {
        var subscriber = peers.subscriber();
        if (subscriber != null) {
            subscriber.tell(new ClusterEvent.KvCacheChanged(replicaIndex, state(atNanos, events)));
        }
    }

    private void reportLoad(ReportLoad load) {
        peers.router().tell(new Router.LoadReported(replicaIndex, load.ofQueues.withKvCacheUsage(kvCache.usage())));
    }

    private ClusterEvent.KvCacheState state(long atNanos, List<KvEvent> events) {
        return new ClusterEvent.KvCacheState(
                atNanos,
                kvCache.usage(),
                kvCache.blockCounts(),
                before.plus(kvCache.stats()),
                blockSize,
                events,
                transfers == null ? null : transfers.taken(kvCache.externalStats()));
    }

    /**
     * Tells the router what has changed in the prefix table, if it wants to know, and returns it for the subscriber.
     */
    private List<KvEvent> takeEvents() {
        var events = peers.wantKvEvents() ? kvCache.drainEvents() : List.<KvEvent>of();
        if (events.isEmpty()) {
            return events;
        }
        if (peers.publishesKvEvents()) {
            peers.router().tell(new KvEvents(replicaIndex, events));
        }
        return peers.publishesKvEventsOutside() ? events : List.of();
    }

    private void onResetPrefixCache(ResetPrefixCache reset) {
        var done = new OrderAnswers.Done(replicaIndex, kvCache.resetPrefixCache());
        if (reset.replyTo != null) {
            reset.replyTo.tell(done);
        }
        var events = takeEvents();
        if (!events.isEmpty()) {
            tellState(reset.atNanos, events);
        }
    }

    private void onAudit(Audit audit) {
        var freeOrder = new IntImmutableList(kvCache.freeOrder());
        var traffic = transfers == null ? null : transfers.all(kvCache.externalStats());
        audit.replyTo.tell(new Audited(kvCache.audit(), kvCache.stats(), peakUsage, freeOrder, traffic));
    }
}

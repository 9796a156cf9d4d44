package understudy.cluster.memory;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.Cancellable;
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
import understudy.cluster.ClusterEvent;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.Router;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.kvcache.PrefixCacheStats;
import understudy.runtime.Clock;

/** Block manager of one replica. Messages are told apart by type tests: it handles some in every step. */
public final class KvBlockManagerActor extends ExtensibleBehavior<KvBlockManager.Command> {
    private final KvCache kvCache;
    private final int blockSize;
    private final int replicaIndex;
    private final ReplicaPeers peers;
    private final PrefixCacheStats before;
    private final @Nullable KvMoves moves;
    private final Clock clock;
    private Cancellable lateAnswer = Cancellable.alreadyCancelled();
    private double peakUsage;

    private KvBlockManagerActor(
            ActorContext<KvBlockManager.Command> context, KvCache kvCache, KvBlockManager.Setup setup) {
        this.kvCache = kvCache;
        blockSize = setup.spec().kvCache().hasher().blockSize();
        clock = setup.clock();
        replicaIndex = setup.replicaIndex();
        before = setup.before();
        peers = setup.peers();
        moves = moves(context, kvCache, setup);
    }

    private static @Nullable KvMoves moves(
            ActorContext<KvBlockManager.Command> context, KvCache kvCache, KvBlockManager.Setup setup) {
        if (kvCache.stored() != null) {
            return new StorageMoves(context, kvCache, setup);
        }
        var spec = setup.spec().transfers();
        if (spec == null) {
            return null;
        }
        if (setup.spec().kvCache().isPushed()) {
            return new KvPushes(context, kvCache, spec, setup);
        }
        var connected = kvCache.connected();
        return connected == null ? null : new KvTransfers(context, connected, spec, setup);
    }

    /** Creates the empty memory of a replica; see {@link KvBlockManager.Factory}. */
    public static Behavior<KvBlockManager.Command> create(KvBlockManager.Setup setup) {
        return create(setup.spec().engine().createMemory(), setup);
    }

    /** Creates an actor before a memory that the caller has made. */
    public static Behavior<KvBlockManager.Command> create(KvCache kvCache, KvBlockManager.Setup setup) {
        return Behaviors.setup(context -> new KvBlockManagerActor(context, kvCache, setup));
    }

    @Override
    public Behavior<KvBlockManager.Command> receive(
            TypedActorContext<KvBlockManager.Command> context, KvBlockManager.Command command) {
        if (command instanceof KvBlockManager.Ask ask) {
            onAsk(ask);
        } else if (command instanceof KvBlockManager.Settle settle) {
            onSettle(settle);
        } else if (command instanceof KvBlockManager.TellState tell) {
            tellState(tell.atNanos(), List.of());
        } else if (command instanceof KvBlockManager.ReportLoad load) {
            reportLoad(load);
        } else if (command instanceof KvBlockManager.ResetPrefixCache reset) {
            onResetPrefixCache(reset);
        } else if (command instanceof KvBlockManager.Free free) {
            onFree(free);
        } else if (command instanceof KvBlockManager.Resize resize) {
            kvCache.resize(resize.numGpuBlocks());
        } else if (command instanceof KvBlockManager.GetBlockHashes get) {
            get.replyTo().tell(new KvBlockManager.BlockHashes(new LongImmutableList(kvCache.blockHashes())));
        } else if (command instanceof KvBlockManager.Audit audit) {
            onAudit(audit);
        } else if (command instanceof KvExchange.Command move) {
            Objects.requireNonNull(moves).on(move);
            if (move instanceof KvExchange.Moved && kvCache.stored() != null) {
                // What has come or gone is counted, though no step may tell of it.
                tellState(clock.nowNanos(), List.of());
            }
        }
        return this;
    }

    @Override
    public Behavior<KvBlockManager.Command> receiveSignal(
            TypedActorContext<KvBlockManager.Command> context, Signal signal) {
        if (signal instanceof ChildFailed failed) {
            throw new IllegalStateException(failed.getRef().path().name() + " has failed", failed.cause());
        }
        if (signal instanceof PostStop) {
            lateAnswer.cancel();
        }
        if (moves != null && signal instanceof Terminated gone) {
            moves.onHolderGone(gone.getRef());
        } else if (moves != null && signal instanceof PostStop) {
            moves.stop();
        }
        return this;
    }

    private void onAsk(KvBlockManager.Ask ask) {
        if (ask.before() != null) {
            onSettle(ask.before());
        }
        KvAnswer answer;
        try {
            answer = kvCache.answer(ask.ask());
        } catch (KvOutOfMemoryException e) {
            onEngineDied(e);
            return;
        }
        peakUsage = Math.max(peakUsage, kvCache.usage());
        if (moves != null && ask.ask() instanceof KvAsk.EndPlan) {
            moves.onPlanEnded(() -> ask.replyTo().tell(new KvBlockManager.Answered(answer)));
        } else if (ask.ask().awaitsAnswer()) {
            reply(ask, new KvBlockManager.Answered(answer));
        }
        if (moves != null) {
            moves.onAsked();
        }
    }

    /** Has the run end by the engine's words, without a stack trace. */
    private void onEngineDied(KvOutOfMemoryException death) {
        var owner = peers.owner();
        if (owner == null) {
            throw death;
        }
        owner.tell(new Replica.EngineDied(replicaIndex, String.valueOf(death.getMessage())));
    }

    /** Answers, after the time for which the memory has waited. */
    private void reply(KvBlockManager.Ask ask, KvBlockManager.Answered answered) {
        long waitNanos = kvCache.takeWaitNanos();
        if (waitNanos == 0) {
            ask.replyTo().tell(answered);
        } else {
            lateAnswer = clock.tellAfter(waitNanos, ask.replyTo(), answered);
        }
    }

    private void onFree(KvBlockManager.Free free) {
        kvCache.abort(free.requestId(), free.transferParams(), free.handle(), free.lastStep());
        if (moves != null) {
            moves.onFreed(free.requestId());
        }
    }

    private void onSettle(KvBlockManager.Settle settle) {
        if (settle.settlement() != null) {
            kvCache.settle(settle.settlement());
            if (moves != null) {
                moves.onHeld();
            }
        }
        tellState(settle.atNanos(), takeEvents());
    }

    private void tellState(long atNanos, List<KvEvent> events) {
        if (peers.tells(ClusterEvent.Detail.KV_CACHES)) {
            peers.tellSubscriber(new ClusterEvent.KvCacheChanged(replicaIndex, state(atNanos, events)));
        }
    }

    private void reportLoad(KvBlockManager.ReportLoad load) {
        peers.router()
                .tell(new Router.LoadReported(replicaIndex, load.ofQueues().withKvCacheUsage(kvCache.usage())));
    }

    private ClusterEvent.KvCacheState state(long atNanos, List<KvEvent> events) {
        return new ClusterEvent.KvCacheState(
                atNanos,
                kvCache.usage(),
                kvCache.blockCounts(),
                before.plus(kvCache.stats()),
                blockSize,
                events,
                kvCache.levels(),
                moves == null ? null : moves.taken(kvCache.externalStats()));
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
            peers.router().tell(new KvBlockManager.KvEvents(replicaIndex, events));
        }
        return peers.publishesKvEventsOutside() ? events : List.of();
    }

    private void onResetPrefixCache(KvBlockManager.ResetPrefixCache reset) {
        var done = new Replica.Done(replicaIndex, kvCache.resetPrefixCache());
        if (reset.replyTo() != null) {
            reset.replyTo().tell(done);
        }
        var events = takeEvents();
        if (!events.isEmpty()) {
            tellState(reset.atNanos(), events);
        }
    }

    private void onAudit(KvBlockManager.Audit audit) {
        if (moves == null) {
            answer(audit);
        } else {
            moves.audit(() -> answer(audit));
        }
    }

    private void answer(KvBlockManager.Audit audit) {
        var traffic = moves == null ? null : moves.all(kvCache.externalStats());
        audit.replyTo()
                .tell(new KvBlockManager.Audited(
                        kvCache.audit(), kvCache.stats(), peakUsage, traffic, kvCache.ownFigures()));
    }
}

package understudy.cluster;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import understudy.cluster.orders.OrderAnswers;
import understudy.engine.EngineCore;
import understudy.engine.EngineRequest;
import understudy.latency.ApiDelay;
import understudy.report.ReplicaCounters;
import understudy.runtime.Clock;

/**
 * Parts of a replica.
 *
 * @param self the replica's actor
 * @param kvBlockManager the actor of its memory
 * @param gpu the actor of its device
 * @param api where requests arrive
 * @param engine decides who runs
 * @param clients who waits for which request
 * @param events tells the observers outside the replica
 * @param loadReporter tells the router, every so often
 */
@RecordBuilder
record ReplicaParts(
        Clock clock,
        TimerScheduler<Replica.Command> timers,
        ActorRef<Replica.Command> self,
        ActorRef<KvBlockManager.Command> kvBlockManager,
        ActorRef<VirtualGpu.Command> gpu,
        ApiDelay.Queue api,
        EngineCore engine,
        ClientTable clients,
        ReplicaCounters counters,
        ReplicaEvents events,
        ReplicaEvents.LoadReporter loadReporter) {

    /** Starts memory and device, whose failures are the replica's. */
    static ReplicaParts start(
            ActorContext<Replica.Command> context,
            TimerScheduler<Replica.Command> timers,
            Clock clock,
            ReplicaCounters counters,
            ReplicaSpec spec,
            ReplicaPeers peers) {
        int index = counters.replicaIndex();
        var memory = spec.memory()
                .create(new KvBlockManager.Setup(
                        clock, spec, index, counters.prefixCacheOfPredecessors(), peers, context.getSelf()));
        var kvBlockManager = context.spawn(memory, "kv-block-manager");
        var gpu = context.spawn(
                spec.device().create(clock, index, peers.dataParallelGroups().get(index)), "gpu");
        context.watch(kvBlockManager);
        context.watch(gpu);
        var engine = new EngineCore(spec.engine());
        var loadReporter =
                new ReplicaEvents.LoadReporter(peers, engine.engine().load(), kvBlockManager, context.getSelf(), clock);
        return ReplicaPartsBuilder.builder()
                .clock(clock)
                .timers(timers)
                .self(context.getSelf())
                .kvBlockManager(kvBlockManager)
                .gpu(gpu)
                .api(new ApiDelay.Queue(spec.apiDelay()))
                .engine(engine)
                .clients(new ClientTable(index, counters, spec.keepsTokenTimes()))
                .counters(counters)
                .events(new ReplicaEvents(counters, engine.engine().load(), kvBlockManager, peers, loadReporter))
                .loadReporter(loadReporter)
                .build();
    }

    /** Returns how long from now on the API works on a request that has come, whose prompt has so many tokens. */
    long apiNanos(Replica.AddRequest add, int numPromptTokens) {
        long nowNanos = clock.nowNanos();
        return Math.max(0, api.add(nowNanos - add.headStartNanos(), numPromptTokens) - nowNanos);
    }

    /** Tells the memory that another replica holds the KV of a request, if one does. */
    void expectKvOf(Replica.AddRequest add) {
        if (add.isKvElsewhere()) {
            kvBlockManager.tell(add.expectation());
        }
    }

    /** Tells the memory that a request which was expected will never be served. */
    void forgetKvOf(Replica.AddRequest add) {
        if (add.isKvElsewhere()) {
            kvBlockManager.tell(new RemoteReads.Unserved(add.request().id()));
        }
    }

    /** Frees the blocks of a request that has ended. */
    void free(EngineRequest request) {
        kvBlockManager.tell(new KvBlockManager.Free(
                request.handle(),
                request.lastStep(),
                request.id(),
                request.request().kvTransfer()));
        events.memoryTouched();
    }

    /** Tells the asker that an order has been carried out. */
    void answer(Replica.Order order) {
        order.replyTo().tell(new OrderAnswers.Done(counters.replicaIndex(), true));
    }

    /** Times of a replica's plans: as soon as there is a reason, or, if it plans at fixed intervals, at the next tick. */
    static final class PlanTicks {
        private final Clock clock;
        private final ActorRef<Replica.Command> replica;
        private final long intervalNanos;
        private final boolean hasTicks;
        private boolean isTicking;
        private Cancellable next = Cancellable.alreadyCancelled();
        private long nextNanos = -1;
        private long emptyUntilNanos;

        /** Creates ticks that have not begun; the replica is told when it is time, after all messages of the instant. */
        PlanTicks(ReplicaSpec spec, Clock clock, ActorRef<Replica.Command> replica) {
            this.clock = clock;
            this.replica = replica;
            intervalNanos = spec.planIntervalNanos();
            hasTicks = intervalNanos > 0 && spec.engineTraits().maxStepsInFlight() > 1;
        }

        /** Returns whether a plan may be made at any time, since there are no ticks to wait for. */
        boolean areFree() {
            return !hasTicks;
        }

        /** Plans soon, since something has happened that a plan could take account of; an empty plan ends before. */
        void planSoon() {
            planAfter(Math.max(0, emptyUntilNanos - clock.nowNanos()));
        }

        /** Plans again after a plan in which nothing could be scheduled, which takes as long as a tick. */
        void planAfterEmptyPlan() {
            emptyUntilNanos = clock.nowNanos() + intervalNanos;
            planAfter(intervalNanos);
        }

        /** Continues ticking as long as there is work. */
        void onTick(boolean hasWork) {
            nextNanos = -1;
            isTicking = hasWork && hasTicks;
            if (isTicking) {
                tellAfter(intervalNanos);
            }
        }

        /** Ends all ticks. */
        void stop() {
            next.cancel();
        }

        /** While there are ticks, none but the first one comes at once. */
        private void planAfter(long delayNanos) {
            if (isTicking) {
                return;
            }
            isTicking = hasTicks;
            tellAfter(delayNanos);
        }

        /** Replaces the tick that is set, unless that is at the same time. */
        private void tellAfter(long delayNanos) {
            long atNanos = clock.nowNanos() + delayNanos;
            if (atNanos != nextNanos) {
                next.cancel();
                next = clock.tellAfter(delayNanos, replica, Replica.PlanStep.NOW);
                nextNanos = atNanos;
            }
        }
    }
}

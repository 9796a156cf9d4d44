package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineCore;
import understudy.engine.EngineRequest;
import understudy.engine.PlanSummary;
import understudy.engine.Request;
import understudy.engine.StepResult;
import understudy.report.ReplicaCounters;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.runtime.Clock;

/**
 * One engine: decides in every step who runs. Memory belongs to its {@link KvBlockManager}, time to its {@link VirtualGpu}.
 *
 * <p>A step is planned by a zero-delay timer, after all messages of the instant have been handled.
 */
public final class Replica extends AbstractBehavior<Replica.Command> {

    /** What a replica understands. */
    public sealed interface Command
            permits Submit,
                    GetRecord,
                    GetBlockHashes,
                    Enqueue,
                    PlanStep,
                    VirtualGpu.StepDone,
                    KvBlockManager.Reserved,
                    KvBlockManager.Admitted,
                    KvBlockManager.Matched,
                    KvBlockManager.Audited {}

    /** A request for this replica; see {@link Router.Submit}. */
    public record Submit(Request request, ActorRef<? super RequestEvent> replyTo, boolean isStreaming)
            implements Command {}

    /** Asks which content is cached; see {@link KvBlockManager.GetBlockHashes}. */
    public record GetBlockHashes(ActorRef<? super KvBlockManager.BlockHashes> replyTo) implements Command {}

    /** Recounts, and hands over what the replica knows of the run, which is over. */
    public record GetRecord(ActorRef<? super ReplicaRecord> replyTo) implements Command {}

    /** The answer to {@link GetRecord}; the free blocks stand in the order in which they would be given out. */
    public record ReplicaRecord(int replicaIndex, RunRecord.ReplicaRecord value, IntList freeBlocks)
            implements Cluster.Command {}

    private record Enqueue(Request request) implements Command {}

    private enum PlanStep implements Command {
        NOW
    }

    /**
     * Whom a replica reports to.
     *
     * @param router hears of its load, and of its KV events if it wants them
     * @param metrics hears of every step
     * @param planObserver hears of every plan, and of the memory after it; null spares the work
     * @param kvEventFeed hears of KV events outside of the cluster; null spares the work
     */
    public record Peers(
            ActorRef<Router.Command> router,
            ActorRef<MetricsCollector.Command> metrics,
            boolean publishesKvEvents,
            @Nullable ActorRef<? super KvBlockManager.Described> planObserver,
            @Nullable ActorRef<? super KvEventFeed> kvEventFeed) {

        /** Names peers without a feed. */
        public Peers(
                ActorRef<Router.Command> router,
                ActorRef<MetricsCollector.Command> metrics,
                boolean publishesKvEvents,
                @Nullable ActorRef<? super KvBlockManager.Described> planObserver) {
            this(router, metrics, publishesKvEvents, planObserver, null);
        }

        private boolean wantKvEvents() {
            return publishesKvEvents || kvEventFeed != null;
        }

        private @Nullable ActorRef<Router.Command> kvEventSubscriber() {
            return publishesKvEvents ? router : null;
        }
    }

    private final int replicaIndex;
    private final Peers peers;
    private final Clock clock;
    private final TimerScheduler<Command> timers;
    private final Duration apiDelay;
    private final PlanTicks planTicks;
    private final ActorRef<Command> self;
    private final ActorRef<KvBlockManager.Command> kvCache;
    private final ActorRef<VirtualGpu.Command> gpu;
    private final EngineCore engine;
    private final ClientTable clients;
    private final ReplicaCounters counters;
    private Router.ReplicaLoad reportedLoad;
    private @Nullable ActorRef<? super ReplicaRecord> recordReceiver;

    private Replica(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            Clock clock,
            int replicaIndex,
            ReplicaSpec spec,
            Peers peers) {
        super(context);
        this.replicaIndex = replicaIndex;
        this.peers = peers;
        this.clock = clock;
        this.timers = timers;
        apiDelay = Duration.ofNanos(spec.apiDelayNanos());
        planTicks = new PlanTicks(spec);
        self = context.getSelf();
        kvCache = context.spawn(KvBlockManager.create(spec.kvCache()), "kv-block-manager");
        gpu = context.spawn(VirtualGpu.create(clock, spec.latency()), "gpu");
        context.watch(kvCache);
        context.watch(gpu);
        engine = new EngineCore(spec.scheduler(), spec.limits());
        clients = new ClientTable(spec.keepsTokenTimes());
        counters = new ReplicaCounters(replicaIndex);
        reportedLoad = new Router.ReplicaLoad(replicaIndex, 0, 0, 0);
    }

    /** Creates an idle replica with its memory and its device; if one of them fails, so does the replica. */
    public static Behavior<Command> create(Clock clock, int replicaIndex, ReplicaSpec spec, Peers peers) {
        return Behaviors.setup(context ->
                Behaviors.withTimers(timers -> new Replica(context, timers, clock, replicaIndex, spec, peers)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(VirtualGpu.StepDone.class, this::onStepDone)
                .onMessage(PlanStep.class, this::onPlanStep)
                .onMessage(KvBlockManager.Reserved.class, this::onReserved)
                .onMessage(KvBlockManager.Admitted.class, this::onAdmitted)
                .onMessage(KvBlockManager.Matched.class, this::onMatched)
                .onMessage(Submit.class, this::onSubmit)
                .onMessage(Enqueue.class, this::onEnqueue)
                .onMessage(GetRecord.class, this::onGetRecord)
                .onMessage(GetBlockHashes.class, this::onGetBlockHashes)
                .onMessage(KvBlockManager.Audited.class, this::onAudited)
                .onSignal(ChildFailed.class, this::onChildFailed)
                .build();
    }

    private Behavior<Command> onSubmit(Submit submit) {
        var request = engine.fit(submit.request);
        counters.onRequest();
        var refusal = engine.refusal(request);
        if (refusal.isPresent()) {
            reject(submit, refusal.get());
            return this;
        }
        clients.add(request.id(), submit.replyTo, submit.isStreaming);
        if (apiDelay.isZero()) {
            return onEnqueue(new Enqueue(request));
        }
        timers.startSingleTimer(request.id(), new Enqueue(request), apiDelay);
        return this;
    }

    private Behavior<Command> onEnqueue(Enqueue enqueue) {
        engine.add(enqueue.request, clock.nowNanos());
        planSoon();
        return this;
    }

    private Behavior<Command> onPlanStep(PlanStep now) {
        planTicks.onTick(engine.planner().numUnfinished() > 0).ifPresent(this::planAfter);
        if (engine.beginPlan(clock.nowNanos())) {
            goOnPlanning();
        }
        return this;
    }

    private Behavior<Command> onReserved(KvBlockManager.Reserved reserved) {
        counters.onKvUsage(reserved.kvUsage());
        engine.planner().onReserved(reserved.numGranted());
        goOnPlanning();
        return this;
    }

    private Behavior<Command> onAdmitted(KvBlockManager.Admitted admitted) {
        counters.onKvUsage(admitted.kvUsage());
        engine.planner().onAdmission(admitted.admission());
        goOnPlanning();
        return this;
    }

    private Behavior<Command> onMatched(KvBlockManager.Matched matched) {
        engine.planner().onMatched(matched.numCachedTokens().toIntArray());
        goOnPlanning();
        return this;
    }

    private Behavior<Command> onStepDone(VirtualGpu.StepDone done) {
        counters.onStepDone(done.endNanos() - done.startNanos());
        applyResult(done.endNanos());
        return this;
    }

    private Behavior<Command> onGetRecord(GetRecord getRecord) {
        recordReceiver = getRecord.replyTo;
        kvCache.tell(new KvBlockManager.Audit(self));
        return this;
    }

    private Behavior<Command> onGetBlockHashes(GetBlockHashes get) {
        kvCache.tell(new KvBlockManager.GetBlockHashes(get.replyTo));
        return this;
    }

    private Behavior<Command> onAudited(KvBlockManager.Audited audited) {
        if (recordReceiver != null) {
            var value = counters.record(audited.audit(), audited.stats());
            recordReceiver.tell(new ReplicaRecord(replicaIndex, value, audited.freeOrder()));
        }
        return this;
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        throw new IllegalStateException(
                "replica " + replicaIndex + " lost " + failed.ref().path().name(), failed.cause());
    }

    /** Applies the result of the oldest step in flight, and goes on to the next. */
    private void applyResult(long endNanos) {
        int numTokens = engine.oldestInFlight().totalScheduledTokens();
        var result = engine.update(endNanos);
        clients.onSampled(result.sampled(), endNanos);
        tellMetrics(numTokens, result, end(result.finished()), endNanos);
        settle(result);
        reportLoad();
        planSoon();
    }

    private void planSoon() {
        if (engine.canPlan() && planTicks.mayStart()) {
            planAfter(Duration.ZERO);
        }
    }

    private void planAfter(Duration delay) {
        timers.startSingleTimer(PlanStep.NOW, PlanStep.NOW, delay);
    }

    /** Carries out what the planner asks for, until it has to wait for an answer or is done. */
    private void goOnPlanning() {
        var planner = engine.planner();
        while (true) {
            switch (planner.next()) {
                case RELEASE -> release(planner.takeRequestToRelease());
                case RESERVE -> {
                    kvCache.tell(new KvBlockManager.Reserve(planner.reservation(), self));
                    return;
                }
                case ADMIT -> {
                    kvCache.tell(new KvBlockManager.Admit(planner.admissionRequest(), self));
                    return;
                }
                case MATCH -> {
                    kvCache.tell(new KvBlockManager.Match(planner.lookups(), self));
                    return;
                }
                case DONE -> {
                    execute();
                    return;
                }
            }
        }
    }

    private void release(EngineRequest preempted) {
        kvCache.tell(new KvBlockManager.Release(preempted.handle(), preempted.lastStep()));
    }

    private void execute() {
        var plan = engine.endPlan(clock.nowNanos());
        counters.onPreempted(plan.preempted().size());
        if (peers.planObserver != null) {
            var summary = PlanSummary.of(plan, engine.planner());
            kvCache.tell(new KvBlockManager.Describe(summary, peers.planObserver));
        }
        if (plan.needsDevice()) {
            var batch = plan.shape();
            counters.onPlanned(batch);
            gpu.tell(new VirtualGpu.ExecuteStep(batch, self));
            planSoon();
        } else if (!plan.isEmpty()) {
            applyResult(clock.nowNanos());
        } else if (engine.isIdleWithWork() && planTicks.mayStart()) {
            planAfter(planTicks.interval());
        }
        reportLoad();
    }

    private List<RequestRecord> end(List<EngineRequest> finished) {
        if (finished.isEmpty()) {
            return List.of();
        }
        var records = new ArrayList<RequestRecord>(finished.size());
        for (var request : finished) {
            counters.onEnded(request.request().output().numPeeks());
            records.add(RequestRecord.completed(request, replicaIndex, clients.remove(request)));
        }
        return records;
    }

    private void reject(Submit submit, String reason) {
        long nowNanos = clock.nowNanos();
        counters.onEnded(0);
        submit.replyTo.tell(new RequestEvent.Rejected(submit.request.id(), reason, nowNanos));
        var ended = RequestRecord.rejected(submit.request, replicaIndex, nowNanos);
        peers.metrics.tell(new MetricsCollector.RequestEnded(ended));
        reportLoad();
    }

    private void tellMetrics(int numTokens, StepResult result, List<RequestRecord> ended, long endNanos) {
        peers.metrics.tell(new MetricsCollector.StepObserved(
                replicaIndex,
                endNanos,
                numTokens,
                result.sampled().size(),
                new LongImmutableList(result.gapNanos()),
                new IntImmutableList(result.gapCounts()),
                ended));
    }

    private void settle(StepResult result) {
        if (!result.settlement().isEmpty()) {
            kvCache.tell(new KvBlockManager.Settle(result.settlement().build()));
        }
        if (peers.wantKvEvents()) {
            kvCache.tell(new KvBlockManager.PublishEvents(
                    replicaIndex, clock.nowNanos(), peers.kvEventSubscriber(), peers.kvEventFeed));
        }
    }

    private void reportLoad() {
        var load = new Router.ReplicaLoad(
                replicaIndex, engine.planner().numRunning(), engine.planner().numWaiting(), counters.numEnded());
        if (!load.equals(reportedLoad)) {
            reportedLoad = load;
            peers.router.tell(load);
        }
    }
}

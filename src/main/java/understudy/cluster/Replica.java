package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import java.time.Duration;
import java.util.ArrayList;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineCore;
import understudy.engine.Request;
import understudy.engine.StepResult;
import understudy.faults.RequestFault;
import understudy.report.ReplicaCounters;
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
                    Abort,
                    ResetPrefixCache,
                    Crash,
                    Leave,
                    SlowGpu,
                    ResizeKv,
                    GetRecord,
                    GetBlockHashes,
                    Enqueue,
                    PlanStep,
                    VirtualGpu.StepDone,
                    KvBlockManager.Answered,
                    KvBlockManager.Audited {}

    /**
     * A request for this replica, and what is to go wrong with it here; see {@link Router.Submit}.
     *
     * @param isPinned whether no other replica may serve it
     * @param headStartNanos how much of the API's work on it was done before it was sent here, at least 0
     */
    public record Submit(
            Request request,
            ActorRef<? super RequestEvent> replyTo,
            boolean isStreaming,
            boolean isPinned,
            RequestFault fault,
            long headStartNanos)
            implements Command {

        /** Submits a request with which all goes well. */
        public Submit(Request request, ActorRef<? super RequestEvent> replyTo, boolean isStreaming) {
            this(request, replyTo, isStreaming, false, RequestFault.NONE, 0);
        }

        /** Returns the same for another replica, whose API has all of the work to do. */
        Submit again() {
            return new Submit(request, replyTo, isStreaming, isPinned, fault, 0);
        }
    }

    /** Gives up a request, if it is here; its sender hears of its end. */
    public record Abort(long requestId) implements Command {}

    /**
     * Forgets all cached content.
     *
     * @param resetsRunning whether to preempt everything that runs for it; else it is refused while any block is in use
     */
    public record ResetPrefixCache(boolean resetsRunning, ActorRef<? super KvBlockManager.PrefixCacheReset> replyTo)
            implements Command {}

    /**
     * The process dies, and with it its memory; the actor hands over with {@link Gone}, and stops.
     *
     * @param reroutes whether requests without a token go back to the router; all others fail
     */
    public record Crash(boolean reroutes) implements Command {}

    /** No request will come any more; the actor finishes those it has, hands over with {@link Gone}, and stops. */
    public enum Leave implements Command {
        NOW
    }

    /** Steps that begin from now on take {@code factor} times as long; above 0. */
    public record SlowGpu(double factor) implements Command {}

    /** Changes the size of the KV cache, in blocks, the null block included; what cannot fit any more fails. */
    public record ResizeKv(int numGpuBlocks) implements Command {}

    /** The replica has stopped; who hears of it may keep the counters, and give them to its successor. */
    public record Gone(int replicaIndex, ReplicaCounters counters) implements Cluster.Command {}

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

    private final int replicaIndex;
    private final ReplicaPeers peers;
    private final ReplicaSpec spec;
    private final Clock clock;
    private final TimerScheduler<Command> timers;
    private final PlanTicks planTicks;
    private final ActorRef<Command> self;
    private final ActorRef<KvBlockManager.Command> kvCache;
    private final ActorRef<VirtualGpu.Command> gpu;
    private final EngineCore engine;
    private final PlanConversation conversation;
    private final ClientTable clients;
    private final BrokenAnswers brokenAnswers;
    private final ReplicaCounters counters;
    private final ReplicaEvents events;
    private final DeferredCommands deferred;
    private @Nullable ActorRef<? super ReplicaRecord> recordReceiver;
    private boolean isLeaving;

    private Replica(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            StashBuffer<Command> stash,
            Clock clock,
            ReplicaCounters counters,
            ReplicaSpec spec,
            ReplicaPeers peers) {
        super(context);
        this.replicaIndex = counters.replicaIndex();
        this.peers = peers;
        this.spec = spec;
        this.clock = clock;
        this.timers = timers;
        deferred = new DeferredCommands(stash);
        planTicks = new PlanTicks(spec, timers, PlanStep.NOW);
        self = context.getSelf();
        kvCache = context.spawn(KvBlockManager.create(spec.kvCache(), counters, peers), "kv-block-manager");
        gpu = context.spawn(VirtualGpu.create(clock, spec.latency()), "gpu");
        context.watch(kvCache);
        context.watch(gpu);
        engine = new EngineCore(spec.scheduler(), spec.kvCache(), spec.limits());
        clients = new ClientTable(replicaIndex, counters, spec.keepsTokenTimes());
        this.counters = counters;
        conversation = new PlanConversation(engine.planner(), kvCache, self, peers);
        events = new ReplicaEvents(counters, engine.planner().requests(), kvCache, peers);
        brokenAnswers = new BrokenAnswers(engine, clients, kvCache, timers, events);
    }

    /** Creates an idle replica with its memory and its device; if one of them fails, so does the replica. */
    public static Behavior<Command> create(Clock clock, int replicaIndex, ReplicaSpec spec, ReplicaPeers peers) {
        return create(clock, new ReplicaCounters(replicaIndex), spec, peers);
    }

    /** Creates the successor of a replica that is gone, which goes on with its counters. */
    static Behavior<Command> create(Clock clock, ReplicaCounters counters, ReplicaSpec spec, ReplicaPeers peers) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> Behaviors.withStash(
                DeferredCommands.CAPACITY,
                stash -> new Replica(context, timers, stash, clock, counters, spec, peers))));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(VirtualGpu.StepDone.class, this::onStepDone)
                .onMessage(PlanStep.class, this::onPlanStep)
                .onMessage(KvBlockManager.Answered.class, this::onAnswered)
                .onMessage(Submit.class, this::onSubmit)
                .onMessage(Enqueue.class, this::onEnqueue)
                .onMessage(Abort.class, this::onAbort)
                .onMessage(ResetPrefixCache.class, this::onResetPrefixCache)
                .onMessage(Crash.class, this::onCrash)
                .onMessage(Leave.class, this::onLeave)
                .onMessage(SlowGpu.class, this::onSlowGpu)
                .onMessage(ResizeKv.class, this::onResizeKv)
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
            events.requestEnded(clients.reject(submit, refusal.get(), clock.nowNanos()));
            events.loadChanged();
            return this;
        }
        clients.add(submit);
        long apiNanos = Math.max(0, spec.apiDelayNanos() - submit.headStartNanos);
        var delay = Duration.ofNanos(apiNanos + submit.fault.delayNanos());
        if (delay.isZero()) {
            return onEnqueue(new Enqueue(request));
        }
        timers.startSingleTimer(request.id(), new Enqueue(request), delay);
        return this;
    }

    private Behavior<Command> onEnqueue(Enqueue enqueue) {
        engine.add(enqueue.request, clock.nowNanos());
        planSoon();
        return this;
    }

    private Behavior<Command> onPlanStep(PlanStep now) {
        planTicks.onTick(engine.planner().requests().numUnfinished() > 0);
        return engine.beginPlan(clock.nowNanos()) ? goOnPlanning() : this;
    }

    private Behavior<Command> onAnswered(KvBlockManager.Answered answered) {
        counters.onKvUsage(answered.answer().usage());
        engine.planner().answer(answered.answer());
        return goOnPlanning();
    }

    private Behavior<Command> onStepDone(VirtualGpu.StepDone done) {
        counters.onStepDone(done.endNanos() - done.startNanos());
        applyResult(done.endNanos());
        return this;
    }

    private Behavior<Command> onSlowGpu(SlowGpu slow) {
        gpu.tell(new VirtualGpu.SetSlowdown(slow.factor));
        return this;
    }

    private Behavior<Command> onResizeKv(ResizeKv resize) {
        if (isDeferred(resize)) {
            return this;
        }
        engine.setLimits(
                spec.limits().withKvBlocks(resize.numGpuBlocks, spec.kvCache().blockSize()));
        brokenAnswers.failWhatDoesNotFit(clock.nowNanos());
        kvCache.tell(new KvBlockManager.Resize(resize.numGpuBlocks));
        return onRequestsGone();
    }

    private Behavior<Command> onAbort(Abort abort) {
        if (isDeferred(abort) || !brokenAnswers.abort(abort.requestId, clock.nowNanos())) {
            return this;
        }
        return onRequestsGone();
    }

    private Behavior<Command> onResetPrefixCache(ResetPrefixCache reset) {
        if (isDeferred(reset)) {
            return this;
        }
        if (reset.resetsRunning) {
            var preempted = engine.planner().preemptAll();
            preempted.forEach(conversation::release);
            counters.onPreempted(preempted.size());
        }
        kvCache.tell(new KvBlockManager.ResetPrefixCache(reset.replyTo, clock.nowNanos()));
        return onRequestsGone();
    }

    private boolean isDeferred(Command command) {
        if (engine.isPlanning()) {
            deferred.add(command);
        }
        return engine.isPlanning();
    }

    /** Goes on after some requests have ended or lost their blocks without a step. */
    private Behavior<Command> onRequestsGone() {
        events.kvCacheChanged(clock.nowNanos());
        events.loadChanged();
        planSoon();
        return leaveIfDone();
    }

    private Behavior<Command> onCrash(Crash crash) {
        brokenAnswers.failAll(crash.reroutes, peers.router(), clock.nowNanos());
        deferred.passAbortsOn(peers.router());
        return deferred.doneBy(leave());
    }

    private Behavior<Command> onLeave(Leave now) {
        isLeaving = true;
        return leaveIfDone();
    }

    private Behavior<Command> leaveIfDone() {
        return isLeaving && clients.size() == 0 ? leave() : this;
    }

    private Behavior<Command> leave() {
        events.tellRouter();
        kvCache.tell(new KvBlockManager.Audit(self));
        return LastWords.create(counters, events, peers.owner());
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
        tell(engine.update(endNanos), numTokens, endNanos);
        planSoon();
        if (isLeaving) {
            self.tell(Leave.NOW);
        }
    }

    /** Tells clients, memory and all others what a step has brought, and ends answers that are to break off with it. */
    private void tell(StepResult result, int numTokens, long endNanos) {
        clients.onSampled(result.sampled(), endNanos);
        var ended = clients.finish(result.finished());
        var toCut = brokenAnswers.toCut(result);
        if (toCut.isEmpty()) {
            events.stepEnded(result, numTokens, ended, endNanos);
            return;
        }
        var all = new ArrayList<>(ended);
        toCut.forEach(request -> all.add(brokenAnswers.cut(request, endNanos)));
        events.stepEnded(result, numTokens, all, endNanos);
        toCut.forEach(brokenAnswers::free);
        events.kvCacheChanged(endNanos);
    }

    private void planSoon() {
        if (engine.canPlan()) {
            planTicks.planSoon();
        }
    }

    private Behavior<Command> goOnPlanning() {
        if (!conversation.goOn()) {
            return this;
        }
        execute();
        return deferred.doneBy(this);
    }

    private void execute() {
        var plan = engine.endPlan(clock.nowNanos());
        counters.onPreempted(plan.preempted().size());
        conversation.describe(plan);
        if (plan.needsDevice()) {
            var batch = plan.shape();
            counters.onPlanned(batch);
            gpu.tell(new VirtualGpu.ExecuteStep(batch, self));
            planSoon();
        } else if (!plan.isEmpty()) {
            applyResult(clock.nowNanos());
        } else if (engine.isIdleWithWork()) {
            planTicks.planAfterEmptyPlan();
        }
        events.loadChanged();
    }
}

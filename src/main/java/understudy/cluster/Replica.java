package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import java.time.Duration;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineCore;
import understudy.engine.EngineRequest;
import understudy.engine.Request;
import understudy.faults.RequestFault;
import understudy.kvcache.KvAsk;
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

    /** The replica has stopped; its successor goes on with what it has counted. */
    public record Gone(RunRecord.ReplicaRecord value) implements Cluster.Command {
        int replicaIndex() {
            return value.stats().replicaIndex();
        }
    }

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
    private final ReplicaParts parts;
    private final EngineCore engine;
    private final ClientTable clients;
    private final BrokenAnswers brokenAnswers;
    private final StepLoop steps;
    private final ReplicaCounters counters;
    private final ReplicaEvents events;
    private final DeferredCommands deferred;
    private @Nullable ActorRef<? super ReplicaRecord> recordReceiver;

    private Replica(
            ActorContext<Command> context,
            StashBuffer<Command> stash,
            ReplicaParts parts,
            ReplicaSpec spec,
            ReplicaPeers peers) {
        super(context);
        this.parts = parts;
        this.spec = spec;
        this.peers = peers;
        clock = parts.clock();
        engine = parts.engine();
        clients = parts.clients();
        counters = parts.counters();
        events = parts.events();
        replicaIndex = counters.replicaIndex();
        deferred = new DeferredCommands(stash);
        brokenAnswers = new BrokenAnswers(parts);
        steps = new StepLoop(parts, new PlanTicks(spec, parts.timers(), PlanStep.NOW), brokenAnswers);
    }

    /** Creates an idle replica with its memory and its device; if one of them fails, so does the replica. */
    public static Behavior<Command> create(Clock clock, int replicaIndex, ReplicaSpec spec, ReplicaPeers peers) {
        return create(clock, new ReplicaCounters(replicaIndex), spec, peers);
    }

    /** Creates the successor of a replica that is gone, which goes on with its counts. */
    static Behavior<Command> create(
            Clock clock, RunRecord.ReplicaRecord predecessor, ReplicaSpec spec, ReplicaPeers peers) {
        return create(clock, new ReplicaCounters(predecessor), spec, peers);
    }

    private static Behavior<Command> create(
            Clock clock, ReplicaCounters counters, ReplicaSpec spec, ReplicaPeers peers) {
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> Behaviors.withStash(
                DeferredCommands.CAPACITY,
                stash -> new Replica(
                        context,
                        stash,
                        ReplicaParts.start(context, timers, clock, counters, spec, peers),
                        spec,
                        peers))));
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
        parts.timers().startSingleTimer(request.id(), new Enqueue(request), delay);
        return this;
    }

    private Behavior<Command> onEnqueue(Enqueue enqueue) {
        engine.add(enqueue.request, clock.nowNanos());
        steps.planSoon();
        return this;
    }

    private Behavior<Command> onPlanStep(PlanStep now) {
        return steps.onTick() ? deferred.doneBy(this) : this;
    }

    private Behavior<Command> onAnswered(KvBlockManager.Answered answered) {
        return steps.onAnswered(answered.answer()) ? deferred.doneBy(this) : this;
    }

    private Behavior<Command> onStepDone(VirtualGpu.StepDone done) {
        counters.onStepDone(done.endNanos() - done.startNanos());
        steps.applyResult(done.endNanos());
        return this;
    }

    private Behavior<Command> onSlowGpu(SlowGpu slow) {
        parts.gpu().tell(new VirtualGpu.SetSlowdown(slow.factor));
        return this;
    }

    private Behavior<Command> onResizeKv(ResizeKv resize) {
        if (isDeferred(resize)) {
            return this;
        }
        engine.setLimits(
                spec.limits().withKvBlocks(resize.numGpuBlocks, spec.kvCache().blockSize()));
        brokenAnswers.failWhatDoesNotFit(clock.nowNanos());
        parts.kvBlockManager().tell(new KvBlockManager.Resize(resize.numGpuBlocks));
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
            preempted.forEach(this::release);
            counters.onPreempted(preempted.size());
        }
        parts.kvBlockManager().tell(new KvBlockManager.ResetPrefixCache(reset.replyTo, clock.nowNanos()));
        return onRequestsGone();
    }

    /** Gives back the blocks of a request that was preempted. */
    private void release(EngineRequest preempted) {
        var release = new KvAsk.Release(preempted.handle(), preempted.lastStep());
        parts.kvBlockManager().tell(new KvBlockManager.Ask(release, parts.self()));
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
        steps.planSoon();
        return this;
    }

    private Behavior<Command> onCrash(Crash crash) {
        brokenAnswers.failAll(crash.reroutes, peers.router(), clock.nowNanos());
        deferred.passAbortsOn(peers.router());
        return deferred.doneBy(leave());
    }

    private Behavior<Command> onLeave(Leave now) {
        return clients.size() == 0 ? leave() : leaving();
    }

    /** A replica that leaves works as ever until its last request has ended. */
    private Behavior<Command> leaving() {
        return Behaviors.receive(Command.class)
                .onAnyMessage(message -> {
                    var next = receive(getContext(), message);
                    if (next != this) {
                        return next;
                    }
                    return clients.size() == 0 ? leave() : Behaviors.same();
                })
                .onSignal(ChildFailed.class, this::onChildFailed)
                .build();
    }

    private Behavior<Command> leave() {
        events.tellRouter();
        parts.kvBlockManager().tell(new KvBlockManager.Audit(parts.self()));
        return LastWords.create(counters, events, peers.owner());
    }

    private Behavior<Command> onGetRecord(GetRecord getRecord) {
        recordReceiver = getRecord.replyTo;
        parts.kvBlockManager().tell(new KvBlockManager.Audit(parts.self()));
        return this;
    }

    private Behavior<Command> onGetBlockHashes(GetBlockHashes get) {
        parts.kvBlockManager().tell(new KvBlockManager.GetBlockHashes(get.replyTo));
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
}

package understudy.cluster;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineCore;
import understudy.engine.StepResult;
import understudy.engine.speculation.DraftOutput;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.report.RequestRecord;
import understudy.runtime.Clock;

/** Steps of a replica: plans one when there is a reason, has the device execute it, and tells what has come of it. */
final class StepLoop {
    private final ReplicaParts parts;
    private final EngineCore engine;
    private final PlanTicks ticks;
    private final RequestAborter aborter;

    /** What the memory is to be told with the next question, or before the device gets to work. */
    private KvBlockManager.@Nullable Settle toSettle;

    StepLoop(ReplicaParts parts, PlanTicks ticks, RequestAborter aborter) {
        this.parts = parts;
        engine = parts.engine();
        this.ticks = ticks;
        this.aborter = aborter;
    }

    /** Plans soon, since something has happened that a plan could take account of. */
    void planSoon() {
        engine.wake();
        if (engine.canPlan()) {
            ticks.planSoon();
        } else if (engine.isAsleep()) {
            // No plan will tell of it.
            parts.events().loadChanged();
        }
    }

    /** Plans nothing from now on; steps in flight still end. */
    void sleep(boolean aborts) {
        engine.setAsleep(true);
        if (aborts) {
            aborter.abortAll(parts.clock().nowNanos());
        }
    }

    /** Plans again, if it did not. */
    void wakeUp() {
        if (engine.isAsleep()) {
            engine.setAsleep(false);
            planSoon();
        }
    }

    /** Takes their blocks from all requests that run. */
    void preemptAll() {
        var preempted = engine.planner().preemptAll();
        for (var request : preempted) {
            var release = new KvAsk.Release(request.handle(), request.lastStep());
            parts.kvBlockManager().tell(new KvBlockManager.Ask(null, release, parts.self()));
        }
        parts.counters().onPreempted(preempted.size());
    }

    /**
     * KV has come, or will not come.
     *
     * @param isFailure whether the request fails whose KV could not be loaded
     */
    void onKvArrived(KvBlockManager.KvArrived arrived, boolean isFailure) {
        var failed = arrived.failed();
        if (failed != null && isFailure) {
            aborter.failLoad(failed.requestId(), parts.clock().nowNanos());
            return;
        }
        if (failed != null) {
            engine.onLoadFailed(failed.requestId(), failed.invalid(), failed.table());
        }
        engine.onKvArrived(arrived.requestIds());
        planSoon();
    }

    /** It is time for a plan; returns whether one was made, for which the memory need not be asked. */
    boolean onTick() {
        ticks.onTick(engine.planner().requests().numUnfinished() > 0);
        if (!ticks.areFree()) {
            engine.unblock();
        }
        return plan();
    }

    private boolean plan() {
        return engine.beginPlan(parts.clock().nowNanos()) && goOnPlanning();
    }

    /** Takes the memory's answer; returns whether the plan is complete with it. */
    boolean onAnswered(KvAnswer answer) {
        engine.planner().answer(answer);
        return goOnPlanning();
    }

    /** Asks the planner's questions, until it has to wait for an answer, or, with true, is done. */
    private boolean goOnPlanning() {
        var planner = engine.planner();
        for (var ask = planner.next(); ask != null; ask = planner.next()) {
            parts.kvBlockManager().tell(new KvBlockManager.Ask(toSettle, ask, parts.self()));
            toSettle = null;
            parts.events().memoryTouched();
            if (ask.awaitsAnswer()) {
                return false;
            }
        }
        settle();
        execute();
        return true;
    }

    private void execute() {
        var plan = engine.endPlan(parts.clock().nowNanos());
        parts.counters().onPreempted(plan.preempted().size());
        if (plan.needsDevice()) {
            var batch = plan.shape();
            parts.counters().onPlanned(batch);
            parts.gpu().tell(new VirtualGpu.ExecuteStep(batch, plan.draftsToVerify(), parts.self()));
            planSoon();
        } else if (!plan.isEmpty()) {
            applyResult(parts.clock().nowNanos(), parts.clock().nowNanos(), DraftOutput.NONE);
            settle();
            planSoon();
        } else if (engine.isIdleWithWork()) {
            ticks.planAfterEmptyPlan();
        }
        parts.events().loadChanged();
    }

    /**
     * Applies the result of the oldest step in flight, and plans the next one: at once if nothing else can happen
     * before, which a message to itself would wait for.
     *
     * @return whether a plan was made, for which the memory need not be asked
     */
    boolean onStepDone(VirtualGpu.StepDone done) {
        boolean isInstantOver = ticks.areFree() && parts.clock().isInstantOver();
        if (done.groupStep() >= 0) {
            engine.planner().onGroupStep(done.groupStep());
        }
        boolean hasToldClients = applyResult(done.startNanos(), done.endNanos(), done.drafts());
        if (isInstantOver && !hasToldClients && engine.canPlan()) {
            boolean isPlanned = plan();
            settle();
            return isPlanned;
        }
        settle();
        planSoon();
        return false;
    }

    /** Takes over the oldest step's result, and tells all others; returns whether a client was told anything. */
    private boolean applyResult(long startNanos, long endNanos, DraftOutput drafts) {
        var plan = engine.oldestInFlight();
        var step = new ClusterEvent.Step(startNanos, endNanos, plan.size(), plan.totalScheduledTokens());
        var result = engine.update(endNanos, drafts);
        var clients = parts.clients();
        boolean hasToldTokens = clients.onSampled(result, endNanos);
        var ended = clients.finish(result.finished());
        var toCut = aborter.toCut(result);
        if (toCut.isEmpty()) {
            stepEnded(result, step, ended);
            return hasToldTokens || !ended.isEmpty();
        }
        var all = new ArrayList<>(ended);
        toCut.forEach(request -> all.add(aborter.cut(request, endNanos)));
        stepEnded(result, step, all);
        settle();
        toCut.forEach(parts::free);
        parts.events().kvCacheChanged(endNanos);
        return true;
    }

    private void stepEnded(StepResult result, ClusterEvent.Step step, List<RequestRecord> ended) {
        toSettle = parts.events().stepEnded(result, step, ended);
    }

    private void settle() {
        if (toSettle != null) {
            parts.kvBlockManager().tell(toSettle);
            toSettle = null;
        }
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
            hasTicks = intervalNanos > 0 && spec.scheduler().maxStepsInFlight() > 1;
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

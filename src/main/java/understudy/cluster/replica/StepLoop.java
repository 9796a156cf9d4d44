package understudy.cluster.replica;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.KvBlockManager;
import understudy.cluster.Replica;
import understudy.cluster.VirtualGpu;
import understudy.engine.EngineCore;
import understudy.engine.EngineCore.PauseState;
import understudy.engine.RankRules;
import understudy.engine.StepResult;
import understudy.engine.speculation.DraftOutput;
import understudy.faults.FleetChange;
import understudy.faults.SleepMode;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.report.RequestRecord;

/** Steps of a replica: plans one when there is a reason, has the device execute it, and tells what has come of it. */
final class StepLoop {
    private final ReplicaParts parts;
    private final EngineCore engine;
    private final PlanTicks ticks;
    private final RequestAborter aborter;

    /** Settlement that goes to the memory with the next question, or before the device gets to work. */
    private KvBlockManager.@Nullable Settle toSettle;

    private FleetChange.@Nullable Sleep toSleep;
    private final List<Replica.Order> toTell = new ArrayList<>();

    StepLoop(ReplicaParts parts, PlanTicks ticks, RequestAborter aborter) {
        this.parts = parts;
        engine = parts.engine();
        this.ticks = ticks;
        this.aborter = aborter;
    }

    /** Plans soon, since something has happened that a plan could take account of. */
    void planSoon() {
        aborter.failGivenUp(parts.clock().nowNanos());
        engine.wake();
        if (engine.canPlan()) {
            ticks.planSoon();
        } else if (engine.pauseState() != PauseState.UNPAUSED) {
            fallAsleep();
            // No plan will tell of it.
            parts.events().loadChanged();
        }
    }

    /** Goes on after some requests have ended or lost their blocks without a step. */
    void onRequestsGone() {
        parts.events().kvCacheChanged(parts.clock().nowNanos());
        parts.events().loadChanged();
        planSoon();
    }

    /** Plans nothing from now on, or nothing new; steps in flight still end. Not to be called while a plan is being made. */
    void sleep(FleetChange.Sleep sleep) {
        toSleep = sleep;
        engine.setPauseState(sleep.mode() == SleepMode.WAIT ? PauseState.PAUSED_NEW : PauseState.PAUSED_ALL);
        if (sleep.mode() == SleepMode.ABORT) {
            aborter.abortAll(parts.clock().nowNanos());
        }
        onRequestsGone();
    }

    /** Sleeps, if it is to and nothing runs any more that it has to wait for. */
    private void fallAsleep() {
        var sleep = toSleep;
        if (sleep == null || (engine.pauseState() == PauseState.PAUSED_NEW && !engine.isDrained())) {
            return;
        }
        engine.setPauseState(PauseState.PAUSED_ALL);
        if (sleep.dropsKv()) {
            resetPrefixCache(true, null);
            parts.events().kvCacheChanged(parts.clock().nowNanos());
        }
        giveUpSleep();
    }

    /** Has the memory forget everything, and answer whether it has. */
    void resetPrefixCache(boolean resetsRunning, @Nullable ActorRef<? super Replica.Done> replyTo) {
        if (resetsRunning) {
            preemptAll();
        }
        parts.kvBlockManager()
                .tell(new KvBlockManager.ResetPrefixCache(replyTo, parts.clock().nowNanos()));
    }

    /** Tells those who wait for the replica to fall asleep that it need not be waited for. */
    void giveUpSleep() {
        toSleep = null;
        toTell.forEach(parts::answer);
        toTell.clear();
    }

    /** Answers once the replica does not wait for its requests in order to sleep. */
    void awaitAsleep(Replica.Order await) {
        toTell.add(await);
        if (toSleep == null) {
            giveUpSleep();
        }
    }

    /** Plans again, if it did not. */
    void wakeUp() {
        giveUpSleep();
        if (engine.pauseState() != PauseState.UNPAUSED) {
            engine.setPauseState(PauseState.UNPAUSED);
            planSoon();
        }
    }

    /** Takes their blocks from all requests that run. */
    private void preemptAll() {
        var preempted = engine.engine().preemptAll();
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
            aborter.failLoad(failed.requestId(), failed.reason(), parts.clock().nowNanos());
            onRequestsGone();
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
        ticks.onTick(engine.engine().load().numUnfinished() > 0);
        if (!ticks.areFree()) {
            engine.unblock();
        }
        return planInTurn();
    }

    /** Takes the turn that the ranks of a group have agreed on; returns whether a plan was made as in {@link #onTick}. */
    boolean onTurn(RankRules.Turn turn) {
        engine.engine().onAgreed(turn);
        return plan();
    }

    /** Plans now, or when the other ranks of its group do. */
    private boolean planInTurn() {
        var ranks = parts.ranks();
        if (ranks == null || !engine.canPlan() || !engine.engine().hasWork()) {
            return plan();
        }
        ranks.propose(engine.engine().wordToRanks());
        return false;
    }

    private boolean plan() {
        return engine.beginPlan(parts.clock().nowNanos()) && goOnPlanning();
    }

    /** Takes the memory's answer; returns whether the plan is complete with it. */
    boolean onAnswered(KvAnswer answer) {
        engine.engine().answer(answer);
        return goOnPlanning();
    }

    /** Asks the engine's questions, until it has to wait for an answer, or, with true, is done. */
    private boolean goOnPlanning() {
        var asker = engine.engine();
        for (var ask = asker.next(); ask != null; ask = asker.next()) {
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
        tellEarly();
        aborter.failGivenUp(parts.clock().nowNanos());
        parts.counters().onPreempted(plan.preempted().size());
        if (plan.needsDevice()) {
            var batch = plan.shape();
            parts.counters().onPlanned(batch);
            parts.gpu().tell(new VirtualGpu.ExecuteStep(batch, plan.draftsToVerify(), plan.isPrefill(), parts.self()));
            planSoon();
        } else if (!plan.isEmpty()) {
            applyResult(parts.clock().nowNanos(), parts.clock().nowNanos(), DraftOutput.NONE);
            settle();
            planSoon();
        } else if (engine.isIdleWithWork()) {
            ticks.planAfterEmptyPlan();
        } else {
            fallAsleep();
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
            engine.engine().onGroupStep(done.groupStep());
        }
        // A result that a call has held back is known only now.
        long endNanos = Math.max(done.endNanos(), parts.clock().nowNanos());
        boolean hasToldClients = applyResult(done.startNanos(), endNanos, done.drafts());
        if (isInstantOver && !hasToldClients && engine.canPlan()) {
            boolean isPlanned = planInTurn();
            settle();
            return isPlanned;
        }
        settle();
        planSoon();
        return false;
    }

    /** Tells all others what a plan has brought without a step, as if it were one without a duration. */
    private void tellEarly() {
        var early = engine.engine().takeEarly();
        if (early != null) {
            long nowNanos = parts.clock().nowNanos();
            tell(early, new ClusterEvent.Step(nowNanos, nowNanos, early.numSampled(), 0, ""));
            settle();
        }
    }

    /** Takes over the oldest step's result, and tells all others; returns whether a client was told anything. */
    private boolean applyResult(long startNanos, long endNanos, DraftOutput drafts) {
        var plan = engine.oldestInFlight();
        var step = new ClusterEvent.Step(startNanos, endNanos, plan.size(), plan.totalScheduledTokens(), plan.kind());
        return tell(engine.update(endNanos, drafts), step);
    }

    private boolean tell(StepResult result, ClusterEvent.Step step) {
        long endNanos = step.endNanos();
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
}

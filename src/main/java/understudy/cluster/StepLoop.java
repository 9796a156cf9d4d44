package understudy.cluster;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineCore;
import understudy.engine.StepResult;
import understudy.kvcache.KvAnswer;
import understudy.report.RequestRecord;

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
        }
    }

    /** It is time for a plan; returns whether one was made, for which the memory need not be asked. */
    boolean onTick() {
        ticks.onTick(engine.planner().requests().numUnfinished() > 0);
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
            parts.gpu().tell(new VirtualGpu.ExecuteStep(batch, parts.self()));
            planSoon();
        } else if (!plan.isEmpty()) {
            applyResult(parts.clock().nowNanos());
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
    boolean onStepDone(long endNanos) {
        boolean isInstantOver = ticks.areFree() && parts.clock().isInstantOver();
        boolean hasToldClients = applyResult(endNanos);
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
    private boolean applyResult(long endNanos) {
        int numTokens = engine.oldestInFlight().totalScheduledTokens();
        var result = engine.update(endNanos);
        var clients = parts.clients();
        boolean hasToldTokens = clients.onSampled(result, endNanos);
        var ended = clients.finish(result.finished());
        var toCut = aborter.toCut(result);
        if (toCut.isEmpty()) {
            stepEnded(result, numTokens, ended, endNanos);
            return hasToldTokens || !ended.isEmpty();
        }
        var all = new ArrayList<>(ended);
        toCut.forEach(request -> all.add(aborter.cut(request, endNanos)));
        stepEnded(result, numTokens, all, endNanos);
        settle();
        toCut.forEach(parts::free);
        parts.events().kvCacheChanged(endNanos);
        return true;
    }

    private void stepEnded(StepResult result, int numTokens, List<RequestRecord> ended, long endNanos) {
        toSettle = parts.events().stepEnded(result, numTokens, ended, endNanos);
    }

    private void settle() {
        if (toSettle != null) {
            parts.kvBlockManager().tell(toSettle);
            toSettle = null;
        }
    }
}

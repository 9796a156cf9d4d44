package understudy.cluster;

import java.util.ArrayList;
import understudy.engine.EngineCore;
import understudy.engine.StepResult;
import understudy.kvcache.KvAnswer;

/** Steps of a replica: plans one when there is a reason, has the device execute it, and tells what has come of it. */
final class StepLoop {
    private final ReplicaParts parts;
    private final EngineCore engine;
    private final PlanTicks ticks;
    private final RequestAborter aborter;

    StepLoop(ReplicaParts parts, PlanTicks ticks, RequestAborter aborter) {
        this.parts = parts;
        engine = parts.engine();
        this.ticks = ticks;
        this.aborter = aborter;
    }

    /** Plans soon, since something has happened that a plan could take account of. */
    void planSoon() {
        if (engine.canPlan()) {
            ticks.planSoon();
        }
    }

    /** It is time for a plan; returns whether one was made, for which the memory need not be asked. */
    boolean onTick() {
        ticks.onTick(engine.planner().requests().numUnfinished() > 0);
        return engine.beginPlan(parts.clock().nowNanos()) && goOnPlanning();
    }

    /** Takes the memory's answer; returns whether the plan is complete with it. */
    boolean onAnswered(KvAnswer answer) {
        parts.counters().onKvUsage(answer.usage());
        engine.planner().answer(answer);
        return goOnPlanning();
    }

    /** Asks the planner's questions, until it has to wait for an answer, or, with true, is done. */
    private boolean goOnPlanning() {
        var planner = engine.planner();
        for (var ask = planner.next(); ask != null; ask = planner.next()) {
            parts.kvBlockManager().tell(new KvBlockManager.Ask(ask, parts.self()));
            if (ask.awaitsAnswer()) {
                return false;
            }
        }
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
        } else if (engine.isIdleWithWork()) {
            ticks.planAfterEmptyPlan();
        }
        parts.events().loadChanged();
    }

    /** Applies the result of the oldest step in flight, and goes on to the next. */
    void applyResult(long endNanos) {
        int numTokens = engine.oldestInFlight().totalScheduledTokens();
        tell(engine.update(endNanos), numTokens, endNanos);
        planSoon();
    }

    /** Tells clients, memory and all others the result of a step, and cuts answers that are to end with it. */
    private void tell(StepResult result, int numTokens, long endNanos) {
        var clients = parts.clients();
        clients.onSampled(result.sampled(), endNanos);
        var ended = clients.finish(result.finished());
        var toCut = aborter.toCut(result);
        if (toCut.isEmpty()) {
            parts.events().stepEnded(result, numTokens, ended, endNanos);
            return;
        }
        var all = new ArrayList<>(ended);
        toCut.forEach(request -> all.add(aborter.cut(request, endNanos)));
        parts.events().stepEnded(result, numTokens, all, endNanos);
        toCut.forEach(parts::free);
        parts.events().kvCacheChanged(endNanos);
    }
}

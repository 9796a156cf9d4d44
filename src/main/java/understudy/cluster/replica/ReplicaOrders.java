package understudy.cluster.replica;

import java.util.ArrayDeque;
import org.apache.pekko.actor.Cancellable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.VirtualGpu;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.lora.Adapters;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaActions;
import understudy.faults.ReplicaOrder;

/**
 * Orders to a replica: carries them out, those that concern requests or memory never while a step is being planned.
 *
 * <p>Those of adapters are calls (vLLM {@code EngineCoreProc._handle_client_request}): they come in turn as soon as the
 * engine does not wait for a result, and the results of all steps in flight wait for them. With asynchronous scheduling the
 * workers have handed these steps to their GPUs, and take the call at once; else they are busy until the steps have ended.
 */
final class ReplicaOrders {
    private final ReplicaParts parts;
    private final ReplicaSpec spec;
    private final StepLoop steps;
    private final RequestAborter aborter;

    /** Whether a worker takes a call while its GPU computes. */
    private final boolean areWorkersFree;

    /** Calls in turn; the first one is being carried out while the engine waits for it. */
    private final ArrayDeque<Call> calls = new ArrayDeque<>();

    private Cancellable callEnds = Cancellable.alreadyCancelled();
    private boolean isCalling;
    private int numStepsToEnd;

    private record Call(Replica.Order told, ReplicaOrder.OfAdapter change) {}

    ReplicaOrders(ReplicaParts parts, ReplicaSpec spec, StepLoop steps, RequestAborter aborter) {
        this.parts = parts;
        this.spec = spec;
        this.steps = steps;
        this.aborter = aborter;
        areWorkersFree = spec.engineTraits().has(Feature.CALLS_IN_FLIGHT);
    }

    /** Carries out an order, or returns false: then it has to come again when the plan is complete, or the call over. */
    boolean carryOut(Replica.Order told) {
        var order = told.order();
        boolean mayBegin = switch (order.turn()) {
            case AT_ONCE -> true;
            case CALL -> !parts.engine().isPlanning();
            case BETWEEN_STEPS -> !parts.engine().isPlanning() && !isCalling;
        };
        if (mayBegin) {
            order.on(new Actions(told));
        }
        return mayBegin;
    }

    /** What the replica does for one order, whose sender it answers. */
    private final class Actions implements ReplicaActions {
        private final Replica.Order told;

        Actions(Replica.Order told) {
            this.told = told;
        }

        @Override
        public void slowDown(double factor) {
            parts.gpu().tell(new VirtualGpu.SetSlowdown(factor));
            parts.answer(told);
        }

        @Override
        public void delaySteps(long nanos) {
            parts.gpu().tell(new VirtualGpu.SetDelay(nanos));
            parts.answer(told);
        }

        @Override
        public void loseHostKv(double share) {
            tellTransfers(new KvExchange.Lose(share));
            parts.answer(told);
        }

        @Override
        public void setHostLink(Fault.OfLinks fault) {
            tellTransfers(new KvExchange.SetFault(fault));
            parts.answer(told);
        }

        @Override
        public void resizeKv(int numGpuBlocks) {
            ReplicaOrders.this.resizeKv(numGpuBlocks);
            parts.answer(told);
        }

        @Override
        public void resetPrefixCache(boolean resetsRunning) {
            steps.resetPrefixCache(resetsRunning, told.replyTo());
            steps.onRequestsGone();
        }

        @Override
        public void sleep(FleetChange.Sleep sleep) {
            steps.sleep(sleep);
            parts.answer(told);
        }

        @Override
        public void awaitAsleep() {
            steps.awaitAsleep(told);
        }

        @Override
        public void wakeUp() {
            steps.wakeUp();
            parts.answer(told);
        }

        @Override
        public void changeAdapter(ReplicaOrder.OfAdapter change) {
            call(new Call(told, change));
        }
    }

    private void tellTransfers(KvExchange.Command command) {
        if (spec.transfers() != null) {
            parts.kvBlockManager().tell(command);
        }
    }

    private void resizeKv(int numGpuBlocks) {
        parts.engine()
                .onMemoryResized(
                        spec.limits().withKvBlocks(numGpuBlocks, spec.kvCache().blockSize()));
        aborter.failWhatDoesNotFit(parts.clock().nowNanos());
        parts.kvBlockManager().tell(new KvBlockManager.Resize(numGpuBlocks));
        parts.events().memoryTouched();
        steps.onRequestsGone();
    }

    private void call(Call call) {
        calls.add(call);
        parts.engine().setCalled(true);
        if (!isCalling && !parts.engine().awaitsResult()) {
            beginCalls();
        }
    }

    /** A result has been applied that the engine may have waited for. */
    void onStepApplied() {
        if (!calls.isEmpty() && !isCalling) {
            beginCalls();
        }
    }

    private void beginCalls() {
        isCalling = true;
        numStepsToEnd = areWorkersFree ? 0 : parts.engine().numInFlight();
        if (numStepsToEnd == 0) {
            carryOutCall();
        }
    }

    /** Returns whether the engine waits for a call, and takes no result meanwhile. */
    boolean areCalling() {
        return isCalling;
    }

    /** The device has finished a step whose result has to wait. */
    void onStepHeldBack() {
        if (isCalling && numStepsToEnd > 0 && --numStepsToEnd == 0) {
            carryOutCall();
        }
    }

    private void carryOutCall() {
        var change = calls.element().change;
        var adapters = parts.engine().engine().adapters();
        if (change.action() != ReplicaOrder.AdapterAction.LOAD) {
            adapters.unload(change.name());
        }
        long nanos = change.action() == ReplicaOrder.AdapterAction.UNLOAD ? 0 : load(adapters, change.name());
        callEnds = parts.clock().tellAfter(nanos, parts.self(), Replica.CallEnded.NOW);
    }

    private long load(Adapters adapters, String name) {
        var loaded = adapters.load(name);
        parts.counters().onAdaptersLoaded(loaded);
        return adapters.loadingNanos(loaded);
    }

    /**
     * A call is over; returns whether the engine goes on, since there is no other one. What a replica hears that has been
     * started anew meanwhile is of a call that was given up.
     */
    boolean onCallEnded() {
        if (!isCalling) {
            return false;
        }
        parts.answer(calls.remove().told);
        if (!calls.isEmpty()) {
            carryOutCall();
            return false;
        }
        isCalling = false;
        parts.engine().setCalled(false);
        steps.planSoon();
        return true;
    }

    /** Has no call end any more. */
    void stop() {
        callEnds.cancel();
    }

    /** Answers all calls of a replica that ends, so that no asker is left waiting. */
    void giveUp() {
        calls.forEach(call -> parts.answer(call.told));
        calls.clear();
    }
}

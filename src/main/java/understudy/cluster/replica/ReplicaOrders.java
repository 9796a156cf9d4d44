package understudy.cluster.replica;

import java.time.Duration;
import java.util.ArrayDeque;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.VirtualGpu;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.lora.Adapters;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
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
    private final ArrayDeque<Replica.Order> calls = new ArrayDeque<>();

    private boolean isCalling;
    private int numStepsToEnd;

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
        if (strike(order)) {
            parts.answer(told);
        } else if (parts.engine().isPlanning()) {
            return false;
        } else if (order instanceof ReplicaOrder.OfAdapter) {
            call(told);
        } else if (isCalling) {
            return false;
        } else if (order instanceof ReplicaOrder.ResetPrefixCache reset) {
            steps.resetPrefixCache(reset.resetsRunning(), told.replyTo());
            steps.onRequestsGone();
        } else if (order instanceof FleetChange.Sleep sleep) {
            steps.sleep(sleep);
            parts.answer(told);
        } else if (order instanceof ReplicaOrder.AwaitAsleep) {
            steps.awaitAsleep(told);
        } else if (order instanceof FleetChange.Wake) {
            steps.wakeUp();
            parts.answer(told);
        } else if (order instanceof Fault.ShrinkKv shrink) {
            resizeKv(shrink.numGpuBlocks());
            parts.answer(told);
        } else {
            throw new IllegalArgumentException("unknown order: " + order);
        }
        return true;
    }

    /** Returns whether a fault has struck that waits for no plan. */
    private boolean strike(ReplicaOrder order) {
        if (order instanceof Fault.SlowGpu slow) {
            parts.gpu().tell(new VirtualGpu.SetSlowdown(slow.factor()));
        } else if (order instanceof Fault.LoseKv lose) {
            tellTransfers(new KvExchange.Lose(lose.share()));
        } else if (order instanceof Fault.OfLinks fault) {
            tellTransfers(new KvExchange.SetFault(fault));
        } else {
            return false;
        }
        return true;
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

    private void call(Replica.Order told) {
        calls.add(told);
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
        var order = (ReplicaOrder.OfAdapter) calls.element().order();
        var adapters = parts.engine().engine().adapters();
        if (order.action() != ReplicaOrder.AdapterAction.LOAD) {
            adapters.unload(order.name());
        }
        long nanos = order.action() == ReplicaOrder.AdapterAction.UNLOAD ? 0 : load(adapters, order.name());
        parts.timers().startSingleTimer(this, Replica.CallEnded.NOW, Duration.ofNanos(nanos));
    }

    private long load(Adapters adapters, String name) {
        var loaded = adapters.load(name);
        parts.counters().onAdaptersLoaded(loaded);
        return adapters.loadingNanos(loaded);
    }

    /** A call is over; returns whether the engine goes on, since there is no other one. */
    boolean onCallEnded() {
        parts.answer(calls.remove());
        if (!calls.isEmpty()) {
            carryOutCall();
            return false;
        }
        isCalling = false;
        parts.engine().setCalled(false);
        steps.planSoon();
        return true;
    }

    /** Answers all calls of a replica that ends, so that no asker is left waiting. */
    void giveUp() {
        calls.forEach(parts::answer);
        calls.clear();
    }
}

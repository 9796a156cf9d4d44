package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.orders.OrderAnswers;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaOrder;

/** Orders to a replica: carries them out, those that concern requests or memory never while a step is being planned. */
final class ReplicaOrders {
    private final ReplicaParts parts;
    private final ReplicaSpec spec;
    private final StepLoop steps;
    private final RequestAborter aborter;

    ReplicaOrders(ReplicaParts parts, ReplicaSpec spec, StepLoop steps, RequestAborter aborter) {
        this.parts = parts;
        this.spec = spec;
        this.steps = steps;
        this.aborter = aborter;
    }

    /** Carries out an order, or returns false: then it has to come again when the plan is complete. */
    boolean carryOut(Replica.Order told) {
        var order = told.order();
        if (strike(order)) {
            answer(told);
        } else if (parts.engine().isPlanning()) {
            return false;
        } else if (order instanceof ReplicaOrder.ResetPrefixCache reset) {
            resetPrefixCache(reset.resetsRunning(), told.replyTo());
        } else if (order instanceof FleetChange.Sleep sleep) {
            sleep(sleep, told);
        } else if (order instanceof FleetChange.Wake) {
            steps.wakeUp();
            answer(told);
        } else if (order instanceof Fault.ShrinkKv shrink) {
            resizeKv(shrink.numGpuBlocks());
            answer(told);
        }
        return true;
    }

    private void answer(Replica.Order told) {
        told.replyTo().tell(new OrderAnswers.Done(parts.counters().replicaIndex(), true));
    }

    /** Returns whether a fault has struck that waits for no plan. */
    private boolean strike(ReplicaOrder order) {
        if (order instanceof Fault.SlowGpu slow) {
            parts.gpu().tell(new VirtualGpu.SetSlowdown(slow.factor()));
        } else if (order instanceof Fault.LoseKv lose) {
            tellTransfers(new KvTransfers.Lose(lose.share()));
        } else if (order instanceof Fault.OfLinks fault) {
            tellTransfers(new KvTransfers.SetFault(fault));
        } else {
            return false;
        }
        return true;
    }

    private void tellTransfers(KvTransfers.Command command) {
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

    private void sleep(FleetChange.Sleep sleep, Replica.Order told) {
        steps.sleep();
        if (sleep.aborts()) {
            aborter.abortAll(parts.clock().nowNanos());
        }
        if (sleep.dropsKv()) {
            resetPrefixCache(true, told.replyTo());
        } else {
            steps.onRequestsGone();
            answer(told);
        }
    }

    /** The memory answers whether it has forgotten everything. */
    private void resetPrefixCache(boolean resetsRunning, ActorRef<? super OrderAnswers.Done> replyTo) {
        if (resetsRunning) {
            steps.preemptAll();
        }
        parts.kvBlockManager()
                .tell(new KvBlockManager.ResetPrefixCache(replyTo, parts.clock().nowNanos()));
        steps.onRequestsGone();
    }
}

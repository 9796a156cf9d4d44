package understudy.faults;

/** Order to a replica, or to all, which each carries out by itself. */
public sealed interface ReplicaOrder
        permits ReplicaOrder.Change,
                ReplicaOrder.ResetPrefixCache,
                ReplicaOrder.AwaitAsleep,
                ReplicaOrder.DelaySteps,
                ReplicaOrder.OfAdapter,
                Fault.OfLinks {

    /** When a replica carries out an order. */
    enum Turn {
        /** At once, also while a step is being planned. */
        AT_ONCE,
        /** As soon as no step is being planned; several may wait for each other. */
        CALL,
        /** As soon as no step is being planned, and no call is under way. */
        BETWEEN_STEPS
    }

    /** Has a replica carry it out. */
    void on(ReplicaActions replica);

    /** Returns when a replica may carry it out. */
    default Turn turn() {
        return Turn.BETWEEN_STEPS;
    }

    /** A change of the cluster that one replica carries out. */
    sealed interface Change extends ReplicaOrder, ClusterChange
            permits Fault.OfReplica, FleetChange.Sleep, FleetChange.Wake {

        int replica();

        @Override
        default void applyTo(Target cluster) {
            cluster.order(replica(), this);
        }
    }

    /**
     * Forgets all cached content.
     *
     * @param resetsRunning whether to preempt everything that runs for it; else it is refused while any block is in use
     */
    record ResetPrefixCache(boolean resetsRunning) implements ReplicaOrder {
        @Override
        public void on(ReplicaActions replica) {
            replica.resetPrefixCache(resetsRunning);
        }
    }

    /** Steps that begin from now on take {@code nanos} longer, until another order or a restart. */
    record DelaySteps(long nanos) implements ReplicaOrder {
        @Override
        public void on(ReplicaActions replica) {
            replica.delaySteps(nanos);
        }

        @Override
        public Turn turn() {
            return Turn.AT_ONCE;
        }
    }

    /** Does nothing; is done when the replica has fallen asleep, or will not, since it was woken up or has stopped. */
    enum AwaitAsleep implements ReplicaOrder {
        NOW;

        @Override
        public void on(ReplicaActions replica) {
            replica.awaitAsleep();
        }
    }

    /**
     * Loads a LoRA adapter, or forgets it, between two steps: no step is planned meanwhile, as in vLLM, where {@code
     * add_lora} is a call that the engine's one loop waits for.
     */
    record OfAdapter(String name, AdapterAction action) implements ReplicaOrder {
        @Override
        public void on(ReplicaActions replica) {
            replica.changeAdapter(this);
        }

        @Override
        public Turn turn() {
            return Turn.CALL;
        }
    }

    /** Action on a LoRA adapter of a replica. */
    enum AdapterAction {
        /** It is read, and copied to the GPU, as far as it is not there. */
        LOAD,
        /** It is read and copied again. */
        LOAD_INPLACE,
        UNLOAD
    }
}

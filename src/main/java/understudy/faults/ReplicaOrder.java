package understudy.faults;

/** Order to a replica, or to all, which each carries out by itself. */
public sealed interface ReplicaOrder
        permits ReplicaOrder.Change,
                ReplicaOrder.ResetPrefixCache,
                ReplicaOrder.AwaitAsleep,
                ReplicaOrder.OfAdapter,
                Fault.OfLinks {

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
    record ResetPrefixCache(boolean resetsRunning) implements ReplicaOrder {}

    /** Does nothing; is done when the replica has fallen asleep, or will not, since it was woken up or has stopped. */
    enum AwaitAsleep implements ReplicaOrder {
        NOW
    }

    /**
     * Loads a LoRA adapter, or forgets it, between two steps: no step is planned meanwhile, as in vLLM, where {@code
     * add_lora} is a call that the engine's one loop waits for.
     */
    record OfAdapter(String name, AdapterAction action) implements ReplicaOrder {}

    /** Action on a LoRA adapter of a replica. */
    enum AdapterAction {
        /** It is read, and copied to the GPU, as far as it is not there. */
        LOAD,
        /** It is read and copied again. */
        LOAD_INPLACE,
        UNLOAD
    }
}

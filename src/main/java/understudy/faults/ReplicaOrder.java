package understudy.faults;

/** Order to a replica, or to all, which each carries out by itself. */
public sealed interface ReplicaOrder permits ReplicaOrder.Change, ReplicaOrder.ResetPrefixCache, Fault.OfLinks {

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
}

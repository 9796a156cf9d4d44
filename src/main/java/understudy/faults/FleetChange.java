package understudy.faults;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Operation on the replicas of a cluster, as an operator or an autoscaler does it. Replicas count from 0. */
public sealed interface FleetChange extends ClusterChange {

    /**
     * One more replica starts, with the next index.
     *
     * @param group the group of replicas that it joins, or empty for the first one
     */
    record Add(String group) implements FleetChange {
        /** Adds a replica of the first group. */
        public Add() {
            this("");
        }

        @Override
        public void applyTo(Target cluster) {
            cluster.add(group);
        }
    }

    /** An operation on one replica. */
    sealed interface OfReplica extends FleetChange, OfState {}

    /** A crashed replica starts again, with an empty cache. */
    record Restart(int replica) implements OfReplica {
        @Override
        public @Nullable ReplicaState next(ReplicaState state) {
            return state == ReplicaState.DOWN ? ReplicaState.STARTING : null;
        }

        @Override
        public void applyTo(Target cluster) {
            cluster.restart(replica);
        }
    }

    /** No more requests are sent there; those that are there are finished. */
    record Drain(int replica) implements OfReplica {
        @Override
        public @Nullable ReplicaState next(ReplicaState state) {
            return state == ReplicaState.READY ? ReplicaState.DRAINING : null;
        }

        @Override
        public void applyTo(Target cluster) {
            cluster.setReady(replica, false);
        }

        @Override
        public Optional<ClusterChange> undo() {
            return Optional.of(new Resume(replica));
        }
    }

    /** A draining replica gets requests again. */
    record Resume(int replica) implements OfReplica {
        @Override
        public @Nullable ReplicaState next(ReplicaState state) {
            return state == ReplicaState.DRAINING ? ReplicaState.READY : null;
        }

        @Override
        public void applyTo(Target cluster) {
            cluster.setReady(replica, true);
        }
    }

    /**
     * The replica falls asleep, perhaps deeper than it was: new requests wait there.
     *
     * @param level vLLM's, 0 to 2; from 1 on, the KV cache is dropped
     * @param mode treatment of its requests
     */
    record Sleep(int replica, int level, SleepMode mode) implements OfReplica, ReplicaOrder.Change {
        /** Returns whether the KV cache is forgotten. */
        public boolean dropsKv() {
            return level > 0;
        }

        @Override
        public void on(ReplicaActions replica) {
            replica.sleep(this);
        }

        @Override
        public @Nullable ReplicaState next(ReplicaState state) {
            boolean isPossible = state == ReplicaState.READY || state.isAsleep();
            return !isPossible
                    ? null
                    : switch (level) {
                        case 0 -> ReplicaState.PAUSED;
                        case 1 -> ReplicaState.WEIGHTS_OFFLOADED;
                        default -> ReplicaState.DISCARD_ALL;
                    };
        }
    }

    /** A replica that is asleep serves again. */
    record Wake(int replica) implements OfReplica, ReplicaOrder.Change {
        @Override
        public void on(ReplicaActions actions) {
            actions.wakeUp();
        }

        @Override
        public @Nullable ReplicaState next(ReplicaState state) {
            return state.isAsleep() ? ReplicaState.READY : null;
        }
    }

    /** The replica leaves for good, after its requests. */
    record Remove(int replica) implements OfReplica {
        @Override
        public @Nullable ReplicaState next(ReplicaState state) {
            return state == ReplicaState.REMOVED ? null : ReplicaState.REMOVED;
        }

        @Override
        public void applyTo(Target cluster) {
            cluster.remove(replica);
        }
    }
}

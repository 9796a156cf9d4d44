package understudy.faults;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Change of a running cluster: a {@link Fault} that strikes it, or a {@link FleetChange} by its operator. */
public sealed interface ClusterChange permits Fault, FleetChange, ClusterChange.OfState, ReplicaOrder.Change {

    /** Sends to the cluster what the change means for it. */
    void applyTo(Target cluster);

    /** Returns the change that ends it, or empty if it has no duration. */
    default Optional<ClusterChange> undo() {
        return Optional.empty();
    }

    /** A change that leads one replica from a state to another. */
    sealed interface OfState extends ClusterChange permits Fault.Crash, FleetChange.OfReplica {

        int replica();

        /** Returns the state of the replica afterwards, or null if this cannot happen in {@code state}. */
        @Nullable ReplicaState next(ReplicaState state);
    }

    /** The cluster as changes see it. Replicas count from 0. */
    interface Target {

        /** Starts one more replica, with the next index. */
        void add(String group);

        void restart(int replica);

        /** Sets whether requests are sent to a replica. */
        void setReady(int replica, boolean isReady);

        /** Sends no more requests to a replica, which leaves when it has finished those that it has. */
        void remove(int replica);

        void crash(int replica);

        /** Has a replica carry out an order, if it is there. */
        void order(int replica, ReplicaOrder order);

        void setFault(Fault.OfRequests fault);

        void setFault(Fault.OfLinks fault);

        /** Passes a fault on to the edge, which alone can carry it out. */
        void setFault(Fault.MalformStreams fault);
    }
}

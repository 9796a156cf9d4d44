package understudy.cluster;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.faults.FaultPlan;
import understudy.routing.RoutingPolicyFactory;
import understudy.workload.Workload;

/**
 * How a cluster is built, and what it is to serve.
 *
 * @param replicas one entry per replica, at least one; replicas that join later are built like the first one
 * @param routing makes what chooses among them
 * @param kvEventDelay how long KV events are under way to the router, at least 0
 * @param workload what arrives; null if requests come from outside, and the run ends when it is told to
 * @param faults what goes wrong when
 * @param subscriber is told what happens, or null
 * @param keepsRecords whether a record of every request is kept for the report; a server, which has no end, keeps none
 */
public record ClusterSpec(
        List<ReplicaSpec> replicas,
        RoutingPolicyFactory routing,
        Duration kvEventDelay,
        @Nullable Workload workload,
        FaultPlan faults,
        @Nullable Subscriber subscriber,
        boolean keepsRecords) {

    /** Describes a cluster in which nothing goes wrong, and nobody subscribes to. */
    public ClusterSpec(
            List<ReplicaSpec> replicas, RoutingPolicyFactory routing, Duration kvEventDelay, Workload workload) {
        this(replicas, routing, kvEventDelay, workload, FaultPlan.NONE, null, true);
    }

    /** Returns the same cluster with this subscriber, in place of another. */
    public ClusterSpec toldTo(Subscriber other) {
        return new ClusterSpec(replicas, routing, kvEventDelay, workload, faults, other, keepsRecords);
    }

    /** Returns whether any replica keeps the times of tokens. */
    boolean keepsTokenTimes() {
        return replicas.stream().anyMatch(ReplicaSpec::keepsTokenTimes);
    }

    /** Returns how a replica is built, one that joins later included. */
    public ReplicaSpec replica(int index) {
        return replicas.get(index < replicas.size() ? index : 0);
    }
}

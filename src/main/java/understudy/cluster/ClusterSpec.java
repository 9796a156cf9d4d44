package understudy.cluster;

import java.time.Duration;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.routing.RoutingPolicy;
import understudy.workload.FaultPlan;
import understudy.workload.Workload;

/**
 * How a cluster is built, and what it is to serve.
 *
 * @param replicas one entry per replica, at least one; replicas that join later are built like the first one
 * @param routing chooses among them
 * @param kvEventDelay how long KV events are under way to the router, at least 0
 * @param workload what arrives; null if requests come from outside, and the run ends when it is told to
 * @param faults what goes wrong when
 * @param kvEventFeed hears of KV events outside of the cluster; null spares the work
 */
public record ClusterSpec(
        List<ReplicaSpec> replicas,
        RoutingPolicy routing,
        Duration kvEventDelay,
        @Nullable Workload workload,
        FaultPlan faults,
        @Nullable ActorRef<? super KvEventFeed> kvEventFeed) {

    /** Describes a cluster in which nothing goes wrong, without a feed. */
    public ClusterSpec(List<ReplicaSpec> replicas, RoutingPolicy routing, Duration kvEventDelay, Workload workload) {
        this(replicas, routing, kvEventDelay, workload, FaultPlan.NONE, null);
    }

    /** Returns whether any replica keeps the times of tokens. */
    boolean keepsTokenTimes() {
        return replicas.stream().anyMatch(ReplicaSpec::keepsTokenTimes);
    }

    /** Returns how a replica is built, one that joins later included. */
    ReplicaSpec replica(int index) {
        return replicas.get(index < replicas.size() ? index : 0);
    }
}

package understudy.cluster;

import java.time.Duration;
import java.util.List;
import understudy.routing.RoutingPolicy;
import understudy.workload.Workload;

/**
 * How a cluster is built, and what it is to serve.
 *
 * @param replicas one entry per replica, at least one
 * @param routing chooses among them
 * @param kvEventDelay how long KV events are under way to the router, at least 0
 * @param workload what arrives
 */
public record ClusterSpec(List<ReplicaSpec> replicas, RoutingPolicy routing, Duration kvEventDelay, Workload workload) {

    /** Returns whether any replica keeps the times of tokens. */
    boolean keepsTokenTimes() {
        return replicas.stream().anyMatch(ReplicaSpec::keepsTokenTimes);
    }
}

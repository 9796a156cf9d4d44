package understudy.cluster;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.faults.FaultPlan;
import understudy.routing.RouterSpec;
import understudy.routing.policy.RoundRobin;
import understudy.scaling.ScalingSpec;
import understudy.workload.Workload;

/**
 * Specification of a cluster: how it is built, and what it is to serve. A value: it may be run again, also in another
 * thread.
 *
 * @param replicas one entry per replica, at least one; replicas that join later are built like the first one
 * @param router how a replica is chosen
 * @param workload what arrives; null if requests come from outside, and the run ends when it is told to
 * @param faults what goes wrong when
 * @param keepsRecords whether a record of every request is kept for the report; a server, which has no end, keeps none
 * @param scaling who decides how many replicas there are, and what they cost; empty if both do not matter
 */
public record ClusterSpec(
        List<ReplicaSpec> replicas,
        RouterSpec router,
        Workload.@Nullable Source workload,
        FaultPlan faults,
        boolean keepsRecords,
        Optional<ScalingSpec> scaling) {

    /** Creates a cluster whose size nobody changes, and whose cost nobody asks for. */
    public ClusterSpec(
            List<ReplicaSpec> replicas,
            RouterSpec router,
            Workload.@Nullable Source workload,
            FaultPlan faults,
            boolean keepsRecords) {
        this(replicas, router, workload, faults, keepsRecords, Optional.empty());
    }

    /** Returns a cluster of one replica, which requests reach from outside; nothing goes wrong, and nothing is kept. */
    public static ClusterSpec ofOne(ReplicaSpec replica) {
        return new ClusterSpec(List.of(replica), RouterSpec.of(RoundRobin.FACTORY), null, FaultPlan.NONE, false);
    }

    /** Returns whether any replica keeps the times of tokens. */
    boolean keepsTokenTimes() {
        return replicas.stream().anyMatch(ReplicaSpec::keepsTokenTimes);
    }

    /** Returns the time from the start of a replica that joins to its first request. */
    long joinNanos() {
        return scaling.filter(spec -> spec.rule().isPresent())
                .map(ScalingSpec::startupNanos)
                .orElse(faults.startupNanos());
    }

    /** Returns how a replica is built, one that joins later included. */
    public ReplicaSpec replica(int index) {
        return replicas.get(index < replicas.size() ? index : 0);
    }
}

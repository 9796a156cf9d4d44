package understudy.cluster;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.faults.FaultPlan;
import understudy.routing.RouterSpec;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.policy.RoundRobin;
import understudy.scaling.ScalingSpec;
import understudy.workload.Workload;

/**
 * Specification of a cluster: how it is built, and what it is to serve. A value: it may be run again, also in another
 * thread.
 *
 * @param actors factories of its actors
 * @param replicas one entry per replica, at least one
 * @param kinds one entry for each group of like replicas that others may join
 * @param router how a replica is chosen
 * @param admission which requests wait, or are turned away, before
 * @param workload requests that arrive; null if they come from outside, and the run ends when it is told to
 * @param faults faults and operations with their times
 * @param keepsRecords whether a record of every request is kept for the report; a server, which has no end, keeps none
 * @param scaling rule for the number of replicas, and their price; empty if there is neither
 */
public record ClusterSpec(
        ActorFactories actors,
        List<ReplicaSpec> replicas,
        List<ReplicaSpec> kinds,
        RouterSpec router,
        AdmissionSpec admission,
        Workload.@Nullable Source workload,
        FaultPlan faults,
        boolean keepsRecords,
        Optional<ScalingSpec> scaling) {

    /** Creates a cluster of fixed size without cost accounting. */
    public ClusterSpec(
            ActorFactories actors,
            List<ReplicaSpec> replicas,
            List<ReplicaSpec> kinds,
            RouterSpec router,
            AdmissionSpec admission,
            Workload.@Nullable Source workload,
            FaultPlan faults,
            boolean keepsRecords) {
        this(actors, replicas, kinds, router, admission, workload, faults, keepsRecords, Optional.empty());
    }

    /** Returns a cluster of one replica, which requests reach from outside; nothing goes wrong, and nothing is kept. */
    public static ClusterSpec ofOne(ActorFactories actors, ReplicaSpec replica) {
        return new ClusterSpec(
                actors,
                List.of(replica),
                List.of(replica),
                RouterSpec.of(RoundRobin.FACTORY),
                AdmissionSpec.OPEN,
                null,
                FaultPlan.NONE,
                false);
    }

    /** Returns whether any replica keeps the times of tokens. */
    public boolean keepsTokenTimes() {
        return replicas.stream().anyMatch(ReplicaSpec::keepsTokenTimes);
    }

    /** Returns the time from the start of a replica that joins to its first request. */
    public long joinNanos() {
        return scaling.filter(spec -> spec.rule().isPresent())
                .map(ScalingSpec::startupNanos)
                .orElse(faults.startupNanos());
    }

    /** Returns how a replica is built; of one that joined later, how those of the first group are. */
    public ReplicaSpec replica(int index) {
        return index < replicas.size() ? replicas.get(index) : kinds.get(0);
    }

    /** Returns how replicas of a group are built, those of the first group where no name is given. */
    public Optional<ReplicaSpec> kind(String group) {
        return group.isEmpty()
                ? Optional.of(kinds.get(0))
                : kinds.stream()
                        .filter(kind -> kind.traits().group().equals(group))
                        .findFirst();
    }
}

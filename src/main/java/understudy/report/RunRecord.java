package understudy.report;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.Optional;
import understudy.kvcache.KvCacheAudit;

/**
 * Record of a run from its actors: the facts from which the report is computed and the invariants are checked.
 *
 * @param log records collected during the run
 * @param replicas one entry per replica, in order of index
 * @param numPlanned requests that the workload announced
 * @param numSent requests that were sent
 * @param numAbandoned requests that were not sent, since a turn before them got no answer
 * @param numHeld requests that waited in the router at the end
 * @param endNanos virtual time at the end
 * @param isPartial whether the run was interrupted
 * @param replicaHistory how many replicas there were from when on, in order of time
 * @param fleet hours, cost and number of all replicas together; empty unless it is asked for
 */
@RecordBuilder
public record RunRecord(
        RunLog log,
        List<ReplicaRecord> replicas,
        long numPlanned,
        long numSent,
        long numAbandoned,
        long numHeld,
        long endNanos,
        boolean isPartial,
        List<FleetStats.Point> replicaHistory,
        Optional<FleetStats> fleet) {

    /** Returns the requests that have ended. */
    public RequestLog requests() {
        return log.requests();
    }

    /** Returns how many requests were sent and have not ended. */
    public long numUnfinished() {
        return replicas.stream().mapToLong(ReplicaRecord::numUnfinished).sum() + numHeld;
    }

    /** Returns how often output was read before it was sampled. */
    public long numPeeks() {
        return replicas.stream().mapToLong(ReplicaRecord::numPeeks).sum();
    }

    /**
     * One replica's counters, and the recount of its memory.
     *
     * @param numUnfinished requests it was given that have not ended
     * @param numPeeks how often output of its requests was read before it was sampled
     * @param numPreemptionsWithdrawn how often requests lost their blocks here that another replica has served then
     */
    public record ReplicaRecord(
            ReplicaStats stats,
            KvCacheAudit kvCache,
            long numUnfinished,
            long numPeeks,
            long numPreemptionsWithdrawn) {}
}

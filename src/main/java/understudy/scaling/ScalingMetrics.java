package understudy.scaling;

import java.util.List;
import understudy.report.latency.LatencyStats;

/**
 * Metrics of a cluster at an evaluation. Immutable.
 *
 * @param atNanos virtual time
 * @param ready one entry per replica that takes requests
 * @param numStarting replicas that will
 * @param inflightTokens prompt tokens of requests that have a replica and no first token, without those that the router
 *     believes to be cached there
 * @param ttft of the first tokens of the last while
 * @param numHeld requests that wait in the router
 */
public record ScalingMetrics(
        long atNanos, List<ReplicaLoad> ready, int numStarting, long inflightTokens, LatencyStats ttft, int numHeld) {

    /**
     * Load of one replica.
     *
     * @param kvUsage share of blocks in use, 0 to 1
     */
    public record ReplicaLoad(int numWaiting, int numRunning, double kvUsage) {
        static final ReplicaLoad NONE = new ReplicaLoad(0, 0, 0);
    }

    public int numReady() {
        return ready.size();
    }

    /** Returns the replicas that take requests or will. */
    public int numReplicas() {
        return ready.size() + numStarting;
    }
}

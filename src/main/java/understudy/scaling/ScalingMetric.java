package understudy.scaling;

import java.util.function.ToDoubleFunction;
import understudy.scaling.ScalingMetrics.ReplicaLoad;

/** Metric that a rule may follow; the names are those of vLLM's gauges. */
public enum ScalingMetric {
    /** Those included that wait in the router. */
    NUM_REQUESTS_WAITING,
    NUM_REQUESTS_RUNNING,
    KV_CACHE_USAGE_PERC,
    /** Prompt tokens of requests without a first token, those left out that are cached. */
    INFLIGHT_TOKENS,
    /** 90th percentile of the TTFT in seconds: one figure of the whole cluster, not a sum over replicas. */
    TTFT_P90;

    /** Returns whether the values of replicas add up to that of the cluster. */
    public boolean isSum() {
        return this != TTFT_P90;
    }

    /** Returns the value of the cluster. */
    double ofCluster(ScalingMetrics metrics) {
        return switch (this) {
            case NUM_REQUESTS_WAITING -> sum(metrics, ReplicaLoad::numWaiting) + metrics.numHeld();
            case NUM_REQUESTS_RUNNING -> sum(metrics, ReplicaLoad::numRunning);
            case KV_CACHE_USAGE_PERC -> sum(metrics, ReplicaLoad::kvUsage);
            case INFLIGHT_TOKENS -> metrics.inflightTokens();
            case TTFT_P90 -> metrics.ttft().p90Nanos() / 1e9;
        };
    }

    /** Returns the mean over the ready replicas, of which there is at least one. */
    double perReplica(ScalingMetrics metrics) {
        return isSum() ? ofCluster(metrics) / metrics.numReady() : ofCluster(metrics);
    }

    private static double sum(ScalingMetrics metrics, ToDoubleFunction<ReplicaLoad> ofReplica) {
        return metrics.ready().stream().mapToDouble(ofReplica).sum();
    }
}

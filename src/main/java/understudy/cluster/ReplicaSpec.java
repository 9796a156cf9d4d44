package understudy.cluster;

import understudy.engine.SchedulerConfig;
import understudy.kvcache.KvCacheConfig;
import understudy.latency.LatencyModel;

/**
 * How one replica is built.
 *
 * @param scheduler settings of its scheduler
 * @param kvCache sizes and switches of its KV memory
 * @param latency how long its device takes for a step
 * @param apiDelayNanos from the arrival of a request to its entry into the waiting queue: HTTP and tokenizing; at least 0
 * @param keepsTokenTimes whether to keep when each token was sampled
 */
public record ReplicaSpec(
        SchedulerConfig scheduler,
        KvCacheConfig kvCache,
        LatencyModel latency,
        long apiDelayNanos,
        boolean keepsTokenTimes) {}

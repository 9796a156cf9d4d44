package understudy.cluster;

import understudy.engine.PlannerConfig;
import understudy.engine.RequestLimits;
import understudy.kvcache.KvCacheConfig;
import understudy.latency.LatencyModel;

/**
 * How one replica is built.
 *
 * @param scheduler which kind of engine it is, and its settings
 * @param limits what its front end turns away
 * @param kvCache sizes and switches of its KV memory
 * @param latency how long its device takes for a step
 * @param apiDelayNanos from the arrival of a request to its entry into the waiting queue: HTTP and tokenizing; at least 0
 * @param keepsTokenTimes whether to keep when each token was sampled
 * @param planIntervalNanos how long an empty plan takes. If it is not 0 and two steps may be in flight, one plan is made in
 *     each interval, before the results of its instant are applied, as drivers do that take turns of planning and executing;
 *     with 0 a plan is made as soon as there is room for a step
 */
public record ReplicaSpec(
        PlannerConfig scheduler,
        RequestLimits limits,
        KvCacheConfig kvCache,
        LatencyModel latency,
        long apiDelayNanos,
        boolean keepsTokenTimes,
        long planIntervalNanos) {}

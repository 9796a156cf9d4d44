package understudy.api.metrics;

import understudy.api.call.Generation;
import understudy.cluster.ClusterEvent;
import understudy.cluster.RequestEvent;
import understudy.faults.ReplicaState;

/**
 * Series of one replica. The cluster's events come on one thread, and the ends of requests on another.
 */
interface ReplicaSeries {
    /** Series that nobody shows. */
    ReplicaSeries NONE = new ReplicaSeries() {};

    /** Records the queues, and what was counted since they were told {@code before}. */
    default void onLoad(ClusterEvent.EngineLoad load, EngineMetrics.Totals before) {}

    /** Records the memory, and what it has counted since it was told {@code before}. */
    default void onKvCache(ClusterEvent.KvCacheState state, EngineMetrics.Totals before) {}

    default void onStep(ClusterEvent.StepEnded step) {}

    /** Records a push of KV that has ended. */
    default void onPush(ClusterEvent.KvPushEnded push) {}

    default void onState(ReplicaState state) {}

    /** Records a request that has ended, by {@code reason} as its sender was told. */
    default void onEnded(RequestEvent.Ended ended, Generation generation, String reason) {}
}

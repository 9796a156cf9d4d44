package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * Who outside of a cluster hears of what goes on in it. Each may be null, which spares the work.
 *
 * @param kvEvents hears of KV events
 * @param engineStats hears what the replicas publish of themselves
 * @param steps hears of every step and of every request that has ended without one
 * @param states hears the states of all replicas whenever one of them may have changed
 */
public record ClusterListeners(
        @Nullable ActorRef<? super KvEventFeed> kvEvents,
        @Nullable ActorRef<? super EngineStats> engineStats,
        @Nullable ActorRef<? super MetricsCollector.Command> steps,
        @Nullable ActorRef<? super Cluster.Status> states) {
    /** Nobody. */
    public static final ClusterListeners NONE = new ClusterListeners(null, null, null, null);
}

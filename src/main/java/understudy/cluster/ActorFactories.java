package understudy.cluster;

/**
 * Factories of the actors of a cluster, so that none of them knows how another one works. Those of a replica's memory
 * and device are in its {@link ReplicaSpec}.
 */
public record ActorFactories(
        Router.Factory router,
        Replica.Factory replica,
        MetricsCollector.Factory metrics,
        LoadGenerator.Factory load,
        Autoscaler.Factory autoscaler) {}

package understudy.host;

import understudy.cluster.ActorFactories;
import understudy.cluster.replica.RunningReplica;
import understudy.cluster.router.RouterActor;
import understudy.cluster.run.AutoscalerActor;
import understudy.cluster.run.LoadGeneratorActor;
import understudy.cluster.run.MetricsCollectorActor;

/** Actors that a cluster is made of. */
public final class Actors {
    /** The actors of every cluster but those of tests. */
    public static final ActorFactories STANDARD = new ActorFactories(
            RouterActor::create,
            RunningReplica::create,
            MetricsCollectorActor::create,
            LoadGeneratorActor::create,
            AutoscalerActor::create);

    private Actors() {}
}

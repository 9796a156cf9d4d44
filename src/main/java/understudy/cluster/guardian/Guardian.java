package understudy.cluster.guardian;

import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import understudy.cluster.Cluster;
import understudy.cluster.KvBlockManager;
import understudy.runtime.Clock;

/** Guardian of a cluster until its start. */
public final class Guardian {
    private Guardian() {}

    /** Creates a guardian that waits for {@link Cluster.Start}. */
    public static Behavior<Cluster.Command> create(Clock clock, Cluster.Observer observer) {
        return Behaviors.setup(context -> waiting(context, clock, observer, false));
    }

    /** There are no replicas yet; a run that is stopped before its start ends as soon as it has begun. */
    private static Behavior<Cluster.Command> waiting(
            ActorContext<Cluster.Command> context, Clock clock, Cluster.Observer observer, boolean stopsAtOnce) {
        return Behaviors.receive(Cluster.Command.class)
                .onMessage(Cluster.Start.class, start -> {
                    if (stopsAtOnce) {
                        context.getSelf().tell(Cluster.Stop.NOW);
                    }
                    return RunningCluster.start(context, clock, start, observer);
                })
                .onMessage(Cluster.Stop.class, now -> waiting(context, clock, observer, true))
                .onMessage(Cluster.Inject.class, inject -> {
                    inject.replyTo().tell(new Cluster.Injected(Optional.of("the cluster has not started")));
                    return Behaviors.same();
                })
                .onMessage(Cluster.GetStatus.class, get -> {
                    get.replyTo().tell(new Cluster.Status(clock.nowNanos(), List.of()));
                    return Behaviors.same();
                })
                .onMessage(Cluster.GetBlockHashes.class, get -> {
                    get.replyTo().tell(new KvBlockManager.BlockHashes(LongLists.EMPTY_LIST));
                    return Behaviors.same();
                })
                .onAnyMessage(other -> Behaviors.same())
                .build();
    }
}

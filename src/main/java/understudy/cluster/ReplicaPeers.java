package understudy.cluster;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Map;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.link.KvStore;
import understudy.cluster.link.Link;
import understudy.cluster.lockstep.DataParallelGroup;
import understudy.cluster.sidechannel.SideChannel;
import understudy.routing.RouterSpec;
import understudy.routing.Signal;

/**
 * Actors that a replica reports to.
 *
 * @param router gets the signals that it wants, see {@link Signal}
 * @param metrics gets every step, and every request that ends
 * @param routerSpec specification of the router
 * @param subscriber receives the events, or null
 * @param owner is told when the replica has stopped, or its engine has died; null if neither happens
 * @param network link to the other replicas, or null if there is none
 * @param sharedStore memory that all replicas have together, or null if there is none
 * @param keepsRecords whether all transfers are kept for a report
 * @param sideChannel carries words to other processes, or null if there are none
 * @param dataParallelGroups the group that each replica steps with, by its index; without those that step alone
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record ReplicaPeers(
        ActorRef<Router.Command> router,
        ActorRef<MetricsCollector.Command> metrics,
        RouterSpec routerSpec,
        ClusterEvent.@Nullable Subscriber subscriber,
        @Nullable ActorRef<Cluster.Command> owner,
        @Nullable ActorRef<Link.Command> network,
        @Nullable KvStore sharedStore,
        boolean keepsRecords,
        @Nullable ActorRef<SideChannel.Command> sideChannel,
        Map<Integer, ActorRef<DataParallelGroup.Command>> dataParallelGroups)
        implements ReplicaPeersBuilder.With {

    /** Returns the peers of a replica without a network, of which all is kept for a report. */
    public static ReplicaPeers of(
            ActorRef<Router.Command> router, ActorRef<MetricsCollector.Command> metrics, RouterSpec routerSpec) {
        return ReplicaPeersBuilder.builder()
                .router(router)
                .metrics(metrics)
                .routerSpec(routerSpec)
                .keepsRecords(true)
                .dataParallelGroups(Map.of())
                .build();
    }

    /** Returns the source of chance failures on one of a replica's own links. */
    public UniformRandomProvider linkRandom(String link, int replicaIndex) {
        return routerSpec.streams().stream(link, replicaIndex);
    }

    /** Returns whether the router reads the changes of the prefix table. */
    public boolean publishesKvEvents() {
        return routerSpec.wants(Signal.KV_EVENTS);
    }

    /** Returns whether the router keeps account of the progress of each request. */
    public boolean wantsProgress() {
        return routerSpec.wants(Signal.PROGRESS);
    }

    /** Returns whether the router reads load reports. */
    public boolean wantsLoadReports() {
        return routerSpec.wants(Signal.LOAD_REPORTS);
    }

    /** Returns the time between two load reports; 0 for one at the end of each instant with a change. */
    public long loadReportIntervalNanos() {
        return routerSpec.wire().loadReportIntervalNanos();
    }

    /** Returns whether changes of the prefix table have any reader. */
    public boolean wantKvEvents() {
        return publishesKvEvents() || publishesKvEventsOutside();
    }

    /** Returns whether the subscriber does. */
    public boolean publishesKvEventsOutside() {
        return tells(ClusterEvent.Detail.KV_EVENTS);
    }

    /** Returns whether the subscriber reads a detail. */
    public boolean tells(ClusterEvent.Detail detail) {
        return subscriber != null && subscriber.wants(detail);
    }

    /** Sends the event of a step or request that has ended to the collector of figures and to the subscriber. */
    public void tell(ClusterEvent ended) {
        metrics.tell(new MetricsCollector.Happened(ended));
        tellSubscriber(ended);
    }

    /** Sends an event to the subscriber, if there is one. */
    public void tellSubscriber(ClusterEvent event) {
        if (subscriber != null) {
            subscriber.tell(event);
        }
    }
}

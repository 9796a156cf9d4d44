package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * Whom a replica reports to.
 *
 * @param router hears of its load, and of its KV events if it wants them
 * @param metrics hears of every step
 * @param planObserver hears of every plan, and of the memory after it; null spares the work
 * @param listeners hear of it outside of the cluster
 * @param owner hears when the replica is gone; null if it never goes
 */
public record ReplicaPeers(
        ActorRef<Router.Command> router,
        ActorRef<MetricsCollector.Command> metrics,
        boolean publishesKvEvents,
        @Nullable ActorRef<? super KvBlockManager.Described> planObserver,
        ClusterListeners listeners,
        @Nullable ActorRef<? super Replica.Gone> owner) {

    /** Names peers of a replica that never goes, to which nobody listens outside. */
    public ReplicaPeers(
            ActorRef<Router.Command> router,
            ActorRef<MetricsCollector.Command> metrics,
            boolean publishesKvEvents,
            @Nullable ActorRef<? super KvBlockManager.Described> planObserver) {
        this(router, metrics, publishesKvEvents, planObserver, ClusterListeners.NONE, null);
    }

    boolean wantKvEvents() {
        return publishesKvEvents || listeners.kvEvents() != null;
    }

    @Nullable ActorRef<Router.Command> kvEventSubscriber() {
        return publishesKvEvents ? router : null;
    }
}

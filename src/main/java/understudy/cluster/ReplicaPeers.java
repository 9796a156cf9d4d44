package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * Whom a replica reports to.
 *
 * @param router hears of its load, and of its KV events if it wants them
 * @param metrics hears of every step
 * @param planObserver hears of every plan, and of the memory after it; null spares the work
 * @param subscriber is told what happens, or null
 * @param owner hears when the replica is gone; null if it never goes
 */
public record ReplicaPeers(
        ActorRef<Router.Command> router,
        ActorRef<MetricsCollector.Command> metrics,
        boolean publishesKvEvents,
        @Nullable ActorRef<? super KvBlockManager.Described> planObserver,
        @Nullable Subscriber subscriber,
        @Nullable ActorRef<? super Replica.Gone> owner) {

    /** Names peers of a replica that never goes, to which nobody listens outside. */
    public ReplicaPeers(
            ActorRef<Router.Command> router,
            ActorRef<MetricsCollector.Command> metrics,
            boolean publishesKvEvents,
            @Nullable ActorRef<? super KvBlockManager.Described> planObserver) {
        this(router, metrics, publishesKvEvents, planObserver, null, null);
    }

    /** Returns whether anybody reads the changes of the prefix table. */
    boolean wantKvEvents() {
        return publishesKvEvents || publishesKvEventsOutside();
    }

    /** Returns whether the subscriber does. */
    boolean publishesKvEventsOutside() {
        return subscriber != null && subscriber.wantsKvEvents();
    }
}

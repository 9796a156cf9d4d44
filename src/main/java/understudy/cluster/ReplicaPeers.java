package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * Whom a replica reports to.
 *
 * @param router hears of its load, and of its KV events if it wants them
 * @param metrics hears of every step
 * @param subscriber is told what happens, or null
 * @param owner hears when the replica is gone; null if it never goes
 */
public record ReplicaPeers(
        ActorRef<Router.Command> router,
        ActorRef<MetricsCollector.Command> metrics,
        boolean publishesKvEvents,
        @Nullable Subscriber subscriber,
        @Nullable ActorRef<? super Replica.Gone> owner) {

    /** Returns whether anybody reads the changes of the prefix table. */
    boolean wantKvEvents() {
        return publishesKvEvents || publishesKvEventsOutside();
    }

    /** Returns whether the subscriber does. */
    boolean publishesKvEventsOutside() {
        return subscriber != null && subscriber.wantsKvEvents();
    }
}

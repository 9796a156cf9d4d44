package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;

/**
 * Actors that a replica reports to.
 *
 * @param router gets its load, and its KV events if it wants them
 * @param metrics gets every step
 * @param subscriber is told what happens, or null
 * @param owner is told when the replica has stopped; null if it never does
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

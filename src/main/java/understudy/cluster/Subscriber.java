package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;

/**
 * Subscriber of a cluster's events, which may hand them on to several. A cluster without one does nothing for it.
 *
 * @param wantsKvEvents whether it reads the changes of prefix tables, with the tokens of each block
 */
public record Subscriber(ActorRef<? super ClusterEvent> ref, boolean wantsKvEvents) {

    void tell(ClusterEvent event) {
        ref.tell(event);
    }
}

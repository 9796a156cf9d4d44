package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Reset of all prefix caches: waits for every replica's answer, and tells whether all have forgotten their cached
 * content.
 */
public final class PrefixCacheResets {
    private final ActorRef<? super AllReset> replyTo;
    private int numAwaited;
    private boolean areAllDone = true;

    private PrefixCacheResets(int numAwaited, ActorRef<? super AllReset> replyTo) {
        this.numAwaited = numAwaited;
        this.replyTo = replyTo;
    }

    /** Result of the reset: whether all replicas have forgotten their cached content; also true if there are none. */
    public record AllReset(boolean isDone) {}

    /** Creates an actor that takes {@code numAwaited} answers, 0 or more, and stops after the last. */
    static Behavior<KvBlockManager.PrefixCacheReset> create(int numAwaited, ActorRef<? super AllReset> replyTo) {
        var resets = new PrefixCacheResets(numAwaited, replyTo);
        return Behaviors.setup(context -> numAwaited == 0 ? resets.end() : Behaviors.receiveMessage(resets::onReset));
    }

    private Behavior<KvBlockManager.PrefixCacheReset> onReset(KvBlockManager.PrefixCacheReset reset) {
        areAllDone &= reset.isDone();
        return --numAwaited == 0 ? end() : Behaviors.same();
    }

    private Behavior<KvBlockManager.PrefixCacheReset> end() {
        replyTo.tell(new AllReset(areAllDone));
        return Behaviors.stopped();
    }
}

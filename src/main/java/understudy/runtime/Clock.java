package understudy.runtime;

import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;

/** Time of an emulation: the only source of it for actors. */
public interface Clock {

    /** Returns the virtual time, in nanoseconds since the emulation was created; it never goes backwards. */
    long nowNanos();

    /**
     * Returns whether nothing but the caller's work is left to happen at this instant. To be called by an actor that
     * handles what a timer has sent, before it sends anything itself: other messages to it would not be seen.
     */
    boolean isInstantOver();

    /**
     * Sends a message after a delay. For timers of every step: Pekko's own keep a key and a logging context for each.
     * An actor that stops must cancel them by itself.
     *
     * @param delayNanos virtual time; one of 0 comes after all other work of the instant
     */
    <T> Cancellable tellAfter(long delayNanos, ActorRef<? super T> receiver, T message);
}

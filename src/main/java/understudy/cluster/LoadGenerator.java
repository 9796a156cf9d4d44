package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import understudy.runtime.Clock;
import understudy.workload.Workload;

/** Sends the requests of a workload: arrivals when they are due, and the next turn of a session after an answer. */
public final class LoadGenerator {

    /** Messages of the generator. */
    public sealed interface Command {}

    /** Ends the run early: tells how many requests were sent, and sends no more. */
    public enum Stop implements Command {
        NOW
    }

    /**
     * Report of the generator when it has finished, or was stopped.
     *
     * @param numPlanned requests that the workload announced
     * @param numSent requests that were sent
     * @param numAbandoned requests that never will be, since a turn before them got no answer
     */
    public record Stopped(long numPlanned, long numSent, long numAbandoned) implements Cluster.Command {}

    public enum SendDue implements Command {
        NOW
    }

    public record Heard(RequestEvent event) implements Command {}

    /** Makes the generator of a workload's requests. */
    @FunctionalInterface
    public interface Factory {

        /**
         * Returns a generator, which begins at once.
         *
         * @param owner is told when everything was sent and has ended
         */
        Behavior<Command> create(
                Clock clock, Workload.Source source, ActorRef<Router.Command> router, ActorRef<? super Stopped> owner);
    }

    private LoadGenerator() {}
}

package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.OptionalInt;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.faults.Fault;
import understudy.faults.ReplicaOrder;
import understudy.faults.RequestFault;
import understudy.routing.LoadReport;
import understudy.routing.ReplicaTraits;
import understudy.routing.Signal;
import understudy.runtime.Clock;

/** Router of a cluster: keeps a view of the replicas, chooses one for each request, and forwards it. */
public final class Router {

    /** Messages of the router. */
    public sealed interface Command
            permits Submit,
                    Abort,
                    Order,
                    Reroute,
                    ReplicaUp,
                    SetReady,
                    TakeDown,
                    ReplicaGone,
                    SetFault,
                    Close,
                    ReplicaProgress,
                    LoadReported,
                    LoadArrived,
                    WaitExpired,
                    PrefillEvent,
                    ReplayArrived,
                    KvBlockManager.KvEvents,
                    KvEventsArrived {}

    /**
     * A request from outside.
     *
     * @param replyTo is told its events
     * @param isStreaming whether {@code replyTo} gets an event for every token, and not only for the end
     * @param replica the one that is to serve it, or empty for the one that the policy chooses
     * @param fault fault to inject into it, besides those of its replica
     */
    public record Submit(
            Request request,
            ActorRef<? super RequestEvent> replyTo,
            boolean isStreaming,
            OptionalInt replica,
            RequestFault fault)
            implements Command {

        /** Submits a request with which all is to go well, and leaves the choice of a replica to the router. */
        public Submit(Request request, ActorRef<? super RequestEvent> replyTo, boolean isStreaming) {
            this(request, replyTo, isStreaming, OptionalInt.empty(), RequestFault.NONE);
        }
    }

    /** Aborts a request, wherever it is; its sender is still told of its end. Nothing happens if it has ended. */
    public record Abort(long requestId) implements Command {}

    /** Has a replica, or with an empty one all, carry out an order; those that are not up need not. */
    public record Order(OptionalInt replica, ReplicaOrder order, ActorRef<? super AllDone> replyTo)
            implements Command {}

    /** The answer to {@link Order}: whether all replicas have done what they were told; also true if there are none. */
    public record AllDone(boolean isDone) {}

    /** A request, or the rest of one, comes back from a replica that has crashed. */
    public record Reroute(Replica.AddRequest submit) implements Command {}

    /** A replica takes requests from now on: a new one, or the successor of one that has stopped. */
    public record ReplicaUp(int replicaIndex, ActorRef<Replica.Command> replica, ReplicaTraits traits)
            implements Command {}

    /** A running replica gets requests from now on, or no more. */
    public record SetReady(int replicaIndex, boolean isReady) implements Command {}

    /** A replica goes down, and gets this as its last message. */
    public record TakeDown(int replicaIndex, Replica.Command lastMessage) implements Command {}

    /** A replica that was taken down has ended, and sends no request back any more. */
    public record ReplicaGone(int replicaIndex) implements Command {}

    /** Requests suffer from a fault from now on. */
    public record SetFault(Fault.OfRequests fault) implements Command {}

    /** The run is over. */
    public record Close(ActorRef<? super Closed> replyTo) implements Command {}

    /** The answer to {@link Close}: how many requests have come, and how many of them wait here. */
    public record Closed(long numSubmitted, int numHeld) implements Cluster.Command {}

    /**
     * Progress of a replica's answers, as a router sees it when it forwards them.
     *
     * @param numEnded requests of the replica that have ended since the start of the run
     * @param firstTokens requests that have got their first token; none unless {@link Signal#PROGRESS} is wanted
     * @param ended requests that have ended; likewise
     * @param decodeNanos the time from the first to the last token of these, summed; likewise
     * @param decodeTokens their tokens after the first ones; likewise
     */
    public record ReplicaProgress(
            int replicaIndex, long numEnded, LongList firstTokens, LongList ended, long decodeNanos, long decodeTokens)
            implements Command {}

    /** A replica reports on itself. */
    public record LoadReported(int replicaIndex, LoadReport report) implements Command {}

    /** A request that waits here has waited too long. */
    public enum WaitExpired implements Command {
        NOW
    }

    /** Event of a prefill request that the router has sent by itself. */
    public record PrefillEvent(RequestEvent event) implements Command {}

    public record LoadArrived(LoadReported report, int numDowns) implements Command {}

    public record KvEventsArrived(KvBlockManager.KvEvents events, int numDowns) implements Command {}

    public record ReplayArrived(int replicaIndex, int numDowns) implements Command {}

    /** Makes the router of a cluster. */
    @FunctionalInterface
    public interface Factory {

        /**
         * Returns a router without replicas.
         *
         * @param spec specification of its cluster
         * @param subscriber receives the events, or null
         */
        Behavior<Command> create(
                Clock clock,
                ClusterSpec spec,
                ActorRef<MetricsCollector.Command> metrics,
                ClusterEvent.@Nullable Subscriber subscriber);
    }

    private Router() {}
}

package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.sidechannel.SideChannel;
import understudy.faults.ClusterChange;
import understudy.faults.ReplicaState;
import understudy.report.RunRecord;
import understudy.report.RunReport;

/** Guardian of a cluster: waits for its start, runs it, and collects the records of its actors when the run is over. */
public final class Cluster {

    /** Messages of the guardian. */
    public sealed interface Command
            permits Start,
                    Stop,
                    Stalled,
                    Inject,
                    InjectLater,
                    GetStatus,
                    GetReport,
                    GetBlockHashes,
                    AskKept,
                    ChangeDue,
                    StartElapsed,
                    LoadGenerator.Stopped,
                    Router.Closed,
                    MetricsCollector.Collected,
                    Replica.Gone,
                    Replica.Recorded,
                    Replica.EngineDied {}

    /**
     * Builds the replicas, and begins to serve the workload; to be sent once.
     *
     * @param subscriber receives the events, or null
     * @param sideChannel carries words to other processes that hold KV for this cluster; null if none do
     */
    public record Start(
            ClusterSpec spec,
            ClusterEvent.@Nullable Subscriber subscriber,
            @Nullable ActorRef<SideChannel.Command> sideChannel)
            implements Command {
        /** Starts a cluster that is alone. */
        public Start(ClusterSpec spec, ClusterEvent.@Nullable Subscriber subscriber) {
            this(spec, subscriber, null);
        }

        /** Starts a cluster without a subscriber. */
        public Start(ClusterSpec spec) {
            this(spec, null);
        }
    }

    /** Interrupts the run, also one that has not started yet; the report covers the time until now. */
    public enum Stop implements Command {
        NOW
    }

    /** Nothing is due any more, although requests are left: senders of those that engines have forgotten give them up. */
    public enum Stalled implements Command {
        NOW
    }

    /** Changes the cluster now. */
    public record Inject(ClusterChange change, ActorRef<? super Injected> replyTo) implements Command {}

    /** Changes the cluster after a delay; a change that is impossible then is left out. */
    public record InjectLater(Duration delay, ClusterChange change) implements Command {}

    /** The answer to {@link Inject}: why it could not be done, or empty if it was. */
    public record Injected(Optional<String> refusal) {}

    /** Asks for the states of the replicas. */
    public record GetStatus(ActorRef<? super Status> replyTo) implements Command {}

    /** The state of each replica, by index, at a virtual time. */
    public record Status(long atNanos, List<ReplicaState> replicas) {}

    /** Asks for the figures of the run so far, as a {@link RunReport}; without records there are none of requests. */
    public record GetReport(ActorRef<? super RunReport> replyTo) implements Command {}

    /** Asks for the hashes of the blocks that a replica has cached; an absent replica has none. */
    public record GetBlockHashes(int replicaIndex, ActorRef<? super KvBlockManager.BlockHashes> replyTo)
            implements Command {}

    /** Another process wants the blocks that a replica keeps of a request, or no longer; see {@link SideChannel.Word}. */
    public record AskKept(int replicaIndex, SideChannel.Word word, long requestId, ActorRef<? super Kept> replyTo)
            implements Command {}

    /**
     * The answer to {@link AskKept}: the blocks that a replica keeps of a request for another process, in the order of the
     * prompt; none if it keeps nothing.
     */
    public record Kept(long requestId, IntList blocks) {}

    public record ChangeDue(ClusterChange change) implements Command {}

    /** The time that a replica takes to start is over; {@code start} counts its starts. */
    public record StartElapsed(int replicaIndex, int start) implements Command {}

    /**
     * Observer of a run, called on the loop thread; it is told the end once, by {@link #onEnded} or {@link #onFailed}.
     */
    public interface Observer {

        /** The cluster takes requests. */
        default void onStarted(ActorRef<Router.Command> router) {}

        /** So many requests have ended. */
        default void onProgress(long numEnded) {}

        /** The run is over, or was interrupted. */
        void onEnded(RunRecord run);

        /** An actor failed, because of its input or of a defect. */
        void onFailed(Throwable cause);
    }

    private Cluster() {}
}

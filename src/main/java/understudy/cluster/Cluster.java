package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongLists;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.faults.ClusterChange;
import understudy.faults.ReplicaState;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.runtime.Clock;

/** The guardian: waits for a cluster to run, runs it, and collects what its actors know when the run is over. */
public final class Cluster {

    /** What the guardian understands. */
    public sealed interface Command
            permits Start,
                    Stop,
                    Inject,
                    InjectLater,
                    GetStatus,
                    GetReport,
                    GetBlockHashes,
                    ChangeDue,
                    StartElapsed,
                    LoadGenerator.Stopped,
                    Router.Closed,
                    MetricsCollector.Collected,
                    Replica.Gone,
                    Replica.Recorded {}

    /**
     * Builds the replicas, and begins to serve the workload; to be sent once.
     *
     * @param subscriber is told what happens, or null
     */
    public record Start(ClusterSpec spec, @Nullable Subscriber subscriber) implements Command {
        /** Starts a cluster to which nobody subscribes. */
        public Start(ClusterSpec spec) {
            this(spec, null);
        }
    }

    /** Breaks the run off, also one that has not started yet; what has happened until now is still reported. */
    public enum Stop implements Command {
        NOW
    }

    /** Changes the cluster now. */
    public record Inject(ClusterChange change, ActorRef<? super Injected> replyTo) implements Command {}

    /** Changes the cluster after a while; what cannot happen then is left out. */
    public record InjectLater(Duration delay, ClusterChange change) implements Command {}

    /** The answer to {@link Inject}: why it could not be done, or empty if it was. */
    public record Injected(Optional<String> refusal) {}

    /** Asks how the replicas are. */
    public record GetStatus(ActorRef<? super Status> replyTo) implements Command {}

    /** The state of each replica, by index, at a virtual time. */
    public record Status(long atNanos, List<ReplicaState> replicas) {}

    /** Asks for the figures of the run so far, as a {@link RunReport}; without records there are none of requests. */
    public record GetReport(ActorRef<? super RunReport> replyTo) implements Command {}

    /** Asks which content a replica has cached; one that is not there has none. */
    public record GetBlockHashes(int replicaIndex, ActorRef<? super KvBlockManager.BlockHashes> replyTo)
            implements Command {}

    record ChangeDue(ClusterChange change) implements Command {}

    /** The time that a replica takes to start is over; {@code start} counts its starts. */
    record StartElapsed(int replicaIndex, int start) implements Command {}

    /** Hears, on the loop thread, how the run goes and ends: by one of {@link #onEnded} and {@link #onFailed}, once. */
    public interface Observer {

        /** The cluster takes requests. */
        default void onStarted(ActorRef<Router.Command> router) {}

        /** So many requests have ended. */
        default void onProgress(long numEnded) {}

        /** The run is over, or was broken off. */
        void onEnded(RunRecord run);

        /** An actor failed, because of its input or of a defect. */
        void onFailed(Throwable cause);
    }

    private Cluster() {}

    /** Creates a guardian that waits for {@link Start}. */
    public static Behavior<Command> create(Clock clock, Observer observer) {
        return Behaviors.setup(context -> waiting(context, clock, observer, false));
    }

    /** There are no replicas yet; a run that is stopped before its start ends as soon as it has begun. */
    private static Behavior<Command> waiting(
            ActorContext<Command> context, Clock clock, Observer observer, boolean stopsAtOnce) {
        return Behaviors.receive(Command.class)
                .onMessage(Start.class, start -> {
                    if (stopsAtOnce) {
                        context.getSelf().tell(Stop.NOW);
                    }
                    return RunningCluster.start(context, clock, start, observer);
                })
                .onMessage(Stop.class, now -> waiting(context, clock, observer, true))
                .onMessage(Inject.class, inject -> {
                    inject.replyTo.tell(new Injected(Optional.of("the cluster has not started")));
                    return Behaviors.same();
                })
                .onMessage(GetStatus.class, get -> {
                    get.replyTo.tell(new Status(clock.nowNanos(), List.of()));
                    return Behaviors.same();
                })
                .onMessage(GetBlockHashes.class, get -> {
                    get.replyTo.tell(new KvBlockManager.BlockHashes(LongLists.EMPTY_LIST));
                    return Behaviors.same();
                })
                .onAnyMessage(other -> Behaviors.same())
                .build();
    }
}

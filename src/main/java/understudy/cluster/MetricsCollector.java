package understudy.cluster;

import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import understudy.report.FleetStats;
import understudy.report.RunLog;
import understudy.report.RunRecord;
import understudy.report.RunReport;

/** Keeps the figures of a run: one message per step of a replica, none per token. */
public final class MetricsCollector {

    /** Messages of the collector. */
    public sealed interface Command {}

    /** A step or a request has ended, or something else has happened, which does not count. */
    public record Happened(ClusterEvent event) implements Command {}

    /** Makes a report of the run so far, with these records of its replicas. */
    public record Report(
            List<RunRecord.ReplicaRecord> replicas,
            long atNanos,
            Optional<FleetStats> fleet,
            ActorRef<? super RunReport> replyTo)
            implements Command {}

    /** Hands over everything collected at the end of the run; later messages are not counted. */
    public record Collect(ActorRef<? super Collected> replyTo) implements Command {}

    /** The answer to {@link Collect}: the log of the run. */
    public record Collected(RunLog log) implements Cluster.Command {}

    /** Makes the collector of a cluster's figures. */
    @FunctionalInterface
    public interface Factory {

        /**
         * Returns a collector that has seen nothing, for a cluster of this kind.
         *
         * @param onProgress is told how many requests have ended
         */
        Behavior<Command> create(ClusterSpec spec, LongConsumer onProgress);
    }

    private MetricsCollector() {}
}

package understudy.cluster;

import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.report.FleetStats;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunLog;
import understudy.report.RunRecord;
import understudy.report.RunReport;

/** Keeps the figures of a run: one message per step of a replica, none per token. */
public final class MetricsCollector extends AbstractBehavior<MetricsCollector.Command> {

    /** Messages of the collector. */
    public sealed interface Command permits ClusterEvent.StepEnded, ClusterEvent.RequestEnded, Report, Collect {}

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

    private final RunLog log;
    private final LongConsumer onProgress;
    private final boolean keepsRecords;

    private MetricsCollector(ActorContext<Command> context, ClusterSpec spec, LongConsumer onProgress) {
        super(context);
        this.log = new RunLog(spec.keepsTokenTimes());
        this.onProgress = onProgress;
        keepsRecords = spec.keepsRecords();
    }

    /**
     * Creates a collector that has seen nothing, for a cluster of this kind.
     *
     * @param onProgress is told how many requests have ended
     */
    public static Behavior<Command> create(ClusterSpec spec, LongConsumer onProgress) {
        return Behaviors.setup(context -> new MetricsCollector(context, spec, onProgress));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(ClusterEvent.StepEnded.class, this::onStepEnded)
                .onMessage(ClusterEvent.RequestEnded.class, this::onRequestEnded)
                .onMessage(Report.class, this::onReport)
                .onMessage(Collect.class, this::onCollect)
                .build();
    }

    private Behavior<Command> onStepEnded(ClusterEvent.StepEnded step) {
        if (!keepsRecords) {
            return this;
        }
        log.addStep(step.replicaIndex(), step.endNanos(), step.numTokens(), step.numAnswerTokens());
        log.addGaps(step.gapNanos(), step.gapCounts());
        if (!step.ended().isEmpty()) {
            step.ended().forEach(this::add);
        }
        return this;
    }

    private Behavior<Command> onRequestEnded(ClusterEvent.RequestEnded request) {
        if (keepsRecords) {
            add(request.ended());
        }
        return this;
    }

    private Behavior<Command> onReport(Report report) {
        report.replyTo.tell(RunReport.soFar(log, report.replicas, report.atNanos, report.fleet));
        return this;
    }

    private Behavior<Command> onCollect(Collect collect) {
        collect.replyTo.tell(new Collected(log));
        return Behaviors.ignore();
    }

    private void add(RequestRecord ended) {
        if (ended.outcome() == Outcome.PREFILL_LEG) {
            return;
        }
        log.addRequest(ended);
        onProgress.accept(log.requests().size());
    }
}

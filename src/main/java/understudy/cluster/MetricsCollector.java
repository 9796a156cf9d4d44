package understudy.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import understudy.report.FleetStats;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunLog;
import understudy.report.RunRecord;
import understudy.report.RunRecordBuilder;
import understudy.report.RunReport;
import understudy.runtime.Clock;

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

    /** Records of a run: collected from replicas and the collector of figures, for reports on the way, and for the end. */
    static final class RunRecords {
        private final ReplicaRegistry registry;
        private final ActorRef<Command> collector;
        private final Clock clock;
        private final ActorRef<Cluster.Command> self;
        private final Cluster.Observer observer;
        private final List<ActorRef<? super RunReport>> waitingForReport = new ArrayList<>();
        private @Nullable End end;
        private @Nullable RunLog log;
        private boolean isReported;

        /** End of a run: how and when it came. */
        private record End(LoadGenerator.Stopped load, long numHeld, boolean isPartial, long atNanos) {}

        RunRecords(
                ReplicaRegistry registry,
                ActorRef<Command> collector,
                Clock clock,
                ActorRef<Cluster.Command> self,
                Cluster.Observer observer) {
            this.registry = registry;
            this.collector = collector;
            this.clock = clock;
            this.self = self;
            this.observer = observer;
        }

        /** Answers with a report of what has happened so far, once all replicas have handed in their records. */
        void report(ActorRef<? super RunReport> replyTo) {
            waitingForReport.add(replyTo);
            registry.askForRecords();
            onReplicaRecord();
        }

        /** Tells the observer of the end, once all records of the run are here. */
        void end(LoadGenerator.Stopped load, long numHeld, boolean isPartial) {
            end = new End(load, numHeld, isPartial, clock.nowNanos());
            registry.askForRecords();
            collector.tell(new Collect(self));
        }

        void onCollected(Collected collected) {
            log = collected.log();
            onReplicaRecord();
        }

        /** A replica has handed in its record, or has none any more. */
        void onReplicaRecord() {
            if (!registry.hasAllRecords()) {
                return;
            }
            waitingForReport.forEach(this::tellReport);
            waitingForReport.clear();
            if (end != null && log != null && !isReported) {
                isReported = true;
                var load = end.load;
                observer.onEnded(RunRecordBuilder.builder()
                        .log(log)
                        .replicas(registry.records())
                        .numPlanned(load.numPlanned())
                        .numSent(load.numSent())
                        .numAbandoned(load.numAbandoned())
                        .numHeld(end.numHeld)
                        .endNanos(end.atNanos)
                        .isPartial(end.isPartial)
                        .replicaHistory(registry.history())
                        .fleet(registry.fleetStats(end.atNanos))
                        .build());
            }
        }

        /** The log is the collector's as long as the run goes on, and so the report is. */
        private void tellReport(ActorRef<? super RunReport> replyTo) {
            long nowNanos = clock.nowNanos();
            var fleet = registry.fleetStats(nowNanos);
            if (log == null) {
                collector.tell(new Report(registry.records(), nowNanos, fleet, replyTo));
            } else {
                replyTo.tell(RunReport.soFar(log, registry.records(), nowNanos, fleet));
            }
        }
    }
}

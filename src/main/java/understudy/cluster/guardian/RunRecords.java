package understudy.cluster.guardian;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Cluster;
import understudy.cluster.LoadGenerator;
import understudy.cluster.MetricsCollector;
import understudy.report.RunLog;
import understudy.report.RunRecordBuilder;
import understudy.report.RunReport;
import understudy.runtime.Clock;

/** Collects the records of replicas and metrics into interim and final reports. */
final class RunRecords {
    private final ReplicaRegistry registry;
    private final ActorRef<MetricsCollector.Command> collector;
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
            ActorRef<MetricsCollector.Command> collector,
            Clock clock,
            ActorRef<Cluster.Command> self,
            Cluster.Observer observer) {
        this.registry = registry;
        this.collector = collector;
        this.clock = clock;
        this.self = self;
        this.observer = observer;
    }

    /** Answers with a report of the run so far, once all replicas have handed in their records. */
    void report(ActorRef<? super RunReport> replyTo) {
        waitingForReport.add(replyTo);
        registry.askForRecords();
        onReplicaRecord();
    }

    /** Tells the observer of the end, once all records of the run are here. */
    void end(LoadGenerator.Stopped load, long numHeld, boolean isPartial) {
        end = new End(load, numHeld, isPartial, clock.nowNanos());
        registry.askForRecords();
        collector.tell(new MetricsCollector.Collect(self));
    }

    void onCollected(MetricsCollector.Collected collected) {
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
            collector.tell(new MetricsCollector.Report(registry.records(), nowNanos, fleet, replyTo));
        } else {
            replyTo.tell(RunReport.soFar(log, registry.records(), nowNanos, fleet));
        }
    }
}

package understudy.cluster.run;

import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.MetricsCollector;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunLog;
import understudy.report.RunReport;

/** Collector of the figures of a run. */
public final class MetricsCollectorActor extends AbstractBehavior<MetricsCollector.Command> {
    private final RunLog log;
    private final LongConsumer onProgress;
    private final boolean keepsRecords;

    private MetricsCollectorActor(
            ActorContext<MetricsCollector.Command> context, ClusterSpec spec, LongConsumer onProgress) {
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
    public static Behavior<MetricsCollector.Command> create(ClusterSpec spec, LongConsumer onProgress) {
        return Behaviors.setup(context -> new MetricsCollectorActor(context, spec, onProgress));
    }

    @Override
    public Receive<MetricsCollector.Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(MetricsCollector.Happened.class, this::onHappened)
                .onMessage(MetricsCollector.Report.class, this::onReport)
                .onMessage(MetricsCollector.Collect.class, this::onCollect)
                .build();
    }

    private Behavior<MetricsCollector.Command> onHappened(MetricsCollector.Happened happened) {
        if (!keepsRecords) {
            return this;
        }
        if (happened.event() instanceof ClusterEvent.StepEnded step) {
            onStepEnded(step);
        } else if (happened.event() instanceof ClusterEvent.RequestEnded request) {
            add(request.ended());
        }
        return this;
    }

    private void onStepEnded(ClusterEvent.StepEnded step) {
        log.addStep(step.replicaIndex(), step.endNanos(), step.numTokens(), step.numAnswerTokens());
        log.addGaps(step.gapNanos(), step.gapCounts());
        log.course().add(step.endNanos(), step.own());
        if (!step.ended().isEmpty()) {
            step.ended().forEach(this::add);
        }
    }

    private Behavior<MetricsCollector.Command> onReport(MetricsCollector.Report report) {
        report.replyTo().tell(RunReport.soFar(log, report.replicas(), report.atNanos(), report.fleet()));
        return this;
    }

    private Behavior<MetricsCollector.Command> onCollect(MetricsCollector.Collect collect) {
        collect.replyTo().tell(new MetricsCollector.Collected(log));
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

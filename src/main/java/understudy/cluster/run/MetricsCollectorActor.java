package understudy.cluster.run;

import java.util.function.LongConsumer;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.MetricsCollector;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunLog;
import understudy.report.RunReport;

/** Collector of the figures of a run. Messages are told apart by type tests: one comes with every step. */
public final class MetricsCollectorActor extends ExtensibleBehavior<MetricsCollector.Command> {
    private final RunLog log;
    private final LongConsumer onProgress;
    private final boolean keepsRecords;

    private MetricsCollectorActor(ClusterSpec spec, LongConsumer onProgress) {
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
        return Behaviors.setup(context -> new MetricsCollectorActor(spec, onProgress));
    }

    @Override
    public Behavior<MetricsCollector.Command> receive(
            TypedActorContext<MetricsCollector.Command> ignored, MetricsCollector.Command command) {
        if (command instanceof MetricsCollector.Happened happened) {
            onHappened(happened.event());
        } else if (command instanceof MetricsCollector.Report report) {
            report.replyTo().tell(RunReport.soFar(log, report.replicas(), report.atNanos(), report.fleet()));
        } else if (command instanceof MetricsCollector.Collect collect) {
            collect.replyTo().tell(new MetricsCollector.Collected(log));
            return Behaviors.ignore();
        }
        return this;
    }

    @Override
    public Behavior<MetricsCollector.Command> receiveSignal(
            TypedActorContext<MetricsCollector.Command> ignored, Signal signal) {
        return Behaviors.unhandled();
    }

    private void onHappened(ClusterEvent event) {
        if (!keepsRecords) {
            return;
        }
        if (event instanceof ClusterEvent.StepEnded step) {
            onStepEnded(step);
        } else if (event instanceof ClusterEvent.RequestEnded request) {
            add(request.ended());
        }
    }

    private void onStepEnded(ClusterEvent.StepEnded step) {
        log.addStep(step.replicaIndex(), step.endNanos(), step.numTokens(), step.numAnswerTokens());
        log.addGaps(step.gapNanos(), step.gapCounts());
        log.course().add(step.endNanos(), step.own());
        if (!step.ended().isEmpty()) {
            step.ended().forEach(this::add);
        }
    }

    private void add(RequestRecord ended) {
        if (ended.outcome() == Outcome.PREFILL_LEG) {
            return;
        }
        log.addRequest(ended);
        onProgress.accept(log.requests().size());
    }
}

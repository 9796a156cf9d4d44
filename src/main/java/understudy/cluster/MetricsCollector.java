package understudy.cluster;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.report.RequestRecord;
import understudy.report.RunLog;

/** Keeps the figures of a run: one message per step of a replica, none per token. */
public final class MetricsCollector extends AbstractBehavior<MetricsCollector.Command> {

    /** What the collector understands. */
    public sealed interface Command permits ClusterEvent.StepEnded, ClusterEvent.RequestEnded, Collect {}

    /** Hands over everything collected; the receiver may keep it, since the run is over. */
    public record Collect(ActorRef<? super Collected> replyTo) implements Command {}

    /** What was collected. */
    public record Collected(RunLog log) implements Cluster.Command {}

    private final RunLog log;
    private final Progress progress;
    private final boolean keepsRecords;

    private MetricsCollector(ActorContext<Command> context, ClusterSpec spec, Progress progress) {
        super(context);
        this.log = new RunLog(spec.keepsTokenTimes());
        this.progress = progress;
        keepsRecords = spec.keepsRecords();
    }

    /** Creates a collector that has seen nothing, for a cluster of this kind. */
    public static Behavior<Command> create(ClusterSpec spec, Progress progress) {
        return Behaviors.setup(context -> new MetricsCollector(context, spec, progress));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(ClusterEvent.StepEnded.class, this::onStepEnded)
                .onMessage(ClusterEvent.RequestEnded.class, this::onRequestEnded)
                .onMessage(Collect.class, this::onCollect)
                .build();
    }

    private Behavior<Command> onStepEnded(ClusterEvent.StepEnded step) {
        if (!keepsRecords) {
            return this;
        }
        log.addStep(step.replicaIndex(), step.endNanos(), step.numTokens(), step.numSampled());
        log.addGaps(step.gapNanos(), step.gapCounts());
        step.ended().forEach(this::add);
        return this;
    }

    private Behavior<Command> onRequestEnded(ClusterEvent.RequestEnded request) {
        if (keepsRecords) {
            add(request.ended());
        }
        return this;
    }

    private Behavior<Command> onCollect(Collect collect) {
        collect.replyTo.tell(new Collected(log));
        return this;
    }

    private void add(RequestRecord ended) {
        log.addRequest(ended);
        progress.setNumEnded(log.requests().size());
    }
}

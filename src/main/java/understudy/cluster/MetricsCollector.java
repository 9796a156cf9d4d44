package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import understudy.engine.StepResult;
import understudy.report.RequestRecord;
import understudy.report.RunLog;

/** Keeps the figures of a run: one message per step of a replica, none per token. */
public final class MetricsCollector extends AbstractBehavior<MetricsCollector.Command> {

    /** What the collector understands. */
    public sealed interface Command {}

    /**
     * A step of a replica has ended.
     *
     * @param endNanos virtual time
     * @param numTokens tokens that it computed
     * @param numSampled requests that got an output token
     * @param gapNanos gaps between these tokens and the same requests' tokens before, as runs of equal values
     * @param gapCounts how long each of these runs is
     * @param ended requests that ended with it
     */
    public record StepObserved(
            int replicaIndex,
            long endNanos,
            int numTokens,
            int numSampled,
            LongList gapNanos,
            IntList gapCounts,
            List<RequestRecord> ended)
            implements Command {

        /** Copies what is to be known of a result, which is used again for the next step. */
        static StepObserved of(
                int replicaIndex, long endNanos, int numTokens, StepResult result, List<RequestRecord> ended) {
            return new StepObserved(
                    replicaIndex,
                    endNanos,
                    numTokens,
                    result.sampled().size(),
                    new LongImmutableList(result.gapNanos()),
                    new IntImmutableList(result.gapCounts()),
                    ended);
        }
    }

    /** A request ended without a step: it was turned away, or failed. */
    public record RequestEnded(RequestRecord ended) implements Command {}

    /** Hands over everything collected; the receiver may keep it, since the run is over. */
    public record Collect(ActorRef<? super Collected> replyTo) implements Command {}

    /** What was collected. */
    public record Collected(RunLog log) implements Cluster.Command {}

    private final RunLog log;
    private final Progress progress;
    private final boolean keepsRecords;
    private final @Nullable ActorRef<? super Command> listener;

    private MetricsCollector(ActorContext<Command> context, ClusterSpec spec, Progress progress) {
        super(context);
        this.log = new RunLog(spec.keepsTokenTimes());
        this.progress = progress;
        keepsRecords = spec.keepsRecords();
        listener = spec.listeners().steps();
    }

    /** Creates a collector that has seen nothing, for a cluster of this kind. */
    public static Behavior<Command> create(ClusterSpec spec, Progress progress) {
        return Behaviors.setup(context -> new MetricsCollector(context, spec, progress));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(StepObserved.class, this::onStepObserved)
                .onMessage(RequestEnded.class, this::onRequestEnded)
                .onMessage(Collect.class, this::onCollect)
                .build();
    }

    private Behavior<Command> onStepObserved(StepObserved step) {
        tellListener(step);
        if (!keepsRecords) {
            return this;
        }
        log.addStep(step.replicaIndex, step.endNanos, step.numTokens, step.numSampled);
        log.addGaps(step.gapNanos, step.gapCounts);
        step.ended.forEach(this::add);
        return this;
    }

    private Behavior<Command> onRequestEnded(RequestEnded request) {
        tellListener(request);
        if (keepsRecords) {
            add(request.ended);
        }
        return this;
    }

    private void tellListener(Command observed) {
        if (listener != null) {
            listener.tell(observed);
        }
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

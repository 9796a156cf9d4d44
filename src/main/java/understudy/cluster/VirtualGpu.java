package understudy.cluster;

import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.latency.BatchShape;
import understudy.latency.JitteredLatency;
import understudy.latency.LatencyModel;
import understudy.runtime.Clock;
import understudy.workload.Durations;
import understudy.workload.RandomStreams;

/**
 * One GPU, or a group of GPUs that work as one: runs one step at a time, and takes as long as its latency model says.
 * One more step may wait behind the running one.
 */
public final class VirtualGpu extends AbstractBehavior<VirtualGpu.Command> {

    /** Messages of the device. */
    public sealed interface Command {}

    /** Runs one step; replies when the virtual hardware has finished it. */
    public record ExecuteStep(BatchShape batch, ActorRef<? super StepDone> replyTo) implements Command {}

    /** Steps that begin from now on take {@code factor} times as long as the model says; above 0, at first 1. */
    public record SetSlowdown(double factor) implements Command {}

    /** A step ran from {@code startNanos} to {@code endNanos}. Steps finish in the order in which they were sent. */
    public record StepDone(long startNanos, long endNanos) implements Replica.Command {}

    /** Makes the device of a replica. A value: it makes any number of them. */
    @FunctionalInterface
    public interface Factory {

        Behavior<Command> create(Clock clock, int replicaIndex);

        /** Returns the factory of devices that take as long as a model says. */
        static Factory of(LatencyModel latency) {
            return (clock, replicaIndex) -> VirtualGpu.create(clock, latency);
        }

        /**
         * Returns the factory of devices whose times scatter, each from a random stream of its own.
         *
         * @param sigma standard deviation of the logarithm of a step's time, at least 0; with 0 nothing scatters
         */
        static Factory of(LatencyModel latency, double sigma, RandomStreams streams) {
            return sigma == 0
                    ? of(latency)
                    : (clock, replicaIndex) -> VirtualGpu.create(
                            clock, new JitteredLatency(latency, sigma, streams.stream("jitter", replicaIndex)));
        }
    }

    private final Clock clock;
    private final LatencyModel latency;
    private double slowdown = 1;

    /** The step sent last, and the one before it: others have ended. */
    private ScheduledStep last;

    private ScheduledStep previous;

    private VirtualGpu(ActorContext<Command> context, Clock clock, LatencyModel latency) {
        super(context);
        this.clock = clock;
        this.latency = latency;
        last = new ScheduledStep(context.getSystem().deadLetters(), 0, 0, 0, Cancellable.alreadyCancelled());
        previous = last;
    }

    /** Creates an idle device. */
    public static Behavior<Command> create(Clock clock, LatencyModel latency) {
        return Behaviors.setup(context -> new VirtualGpu(context, clock, latency));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(ExecuteStep.class, this::onExecuteStep)
                .onMessage(SetSlowdown.class, this::onSetSlowdown)
                .onSignal(PostStop.class, this::onPostStop)
                .build();
    }

    private Behavior<Command> onExecuteStep(ExecuteStep step) {
        long nowNanos = clock.nowNanos();
        if (last.startNanos > nowNanos) {
            throw new IllegalStateException("a step is running and another one waits; no room for a third");
        }
        previous = last;
        last = schedule(step.replyTo, latency.stepNanos(step.batch), Math.max(nowNanos, last.endNanos));
        return this;
    }

    /** A step that has not begun takes as long as is said now. */
    private Behavior<Command> onSetSlowdown(SetSlowdown set) {
        slowdown = set.factor;
        if (last.startNanos > clock.nowNanos()) {
            last.done.cancel();
            last = schedule(last.replyTo, last.modelNanos, last.startNanos);
        }
        return this;
    }

    private Behavior<Command> onPostStop(PostStop signal) {
        previous.done.cancel();
        last.done.cancel();
        return this;
    }

    private ScheduledStep schedule(ActorRef<? super StepDone> replyTo, long modelNanos, long startNanos) {
        long slowed = slowdown == 1 ? modelNanos : Math.max(1, Math.round(modelNanos * slowdown));
        long endNanos = startNanos + Math.min(slowed, Durations.MAX_NANOS);
        var done = clock.tellAfter(endNanos - clock.nowNanos(), replyTo, new StepDone(startNanos, endNanos));
        return new ScheduledStep(replyTo, modelNanos, startNanos, endNanos, done);
    }

    /**
     * A step that runs, or waits for the one before it, until {@code done} tells so.
     *
     * @param modelNanos what the model says
     */
    private record ScheduledStep(
            ActorRef<? super StepDone> replyTo, long modelNanos, long startNanos, long endNanos, Cancellable done) {}
}

package understudy.cluster;

import java.time.Duration;
import java.util.ArrayDeque;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
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

    private record StepElapsed(ActorRef<? super StepDone> replyTo, long startNanos) implements Command {}

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

    private static final int MAX_STEPS = 2;
    private static final Object STEP_TIMER = "step";

    private final TimerScheduler<Command> timers;
    private final Clock clock;
    private final LatencyModel latency;
    private final ArrayDeque<ExecuteStep> steps = new ArrayDeque<>(MAX_STEPS);
    private double slowdown = 1;

    private VirtualGpu(
            ActorContext<Command> context, TimerScheduler<Command> timers, Clock clock, LatencyModel latency) {
        super(context);
        this.timers = timers;
        this.clock = clock;
        this.latency = latency;
    }

    /** Creates an idle device. */
    public static Behavior<Command> create(Clock clock, LatencyModel latency) {
        return Behaviors.setup(
                context -> Behaviors.withTimers(timers -> new VirtualGpu(context, timers, clock, latency)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(StepElapsed.class, this::onStepElapsed)
                .onMessage(ExecuteStep.class, this::onExecuteStep)
                .onMessage(SetSlowdown.class, this::onSetSlowdown)
                .build();
    }

    private Behavior<Command> onExecuteStep(ExecuteStep step) {
        if (steps.size() == MAX_STEPS) {
            throw new IllegalStateException("a step is running and another one waits; no room for a third");
        }
        steps.add(step);
        if (steps.size() == 1) {
            start(step);
        }
        return this;
    }

    private Behavior<Command> onSetSlowdown(SetSlowdown set) {
        slowdown = set.factor;
        return this;
    }

    private Behavior<Command> onStepElapsed(StepElapsed elapsed) {
        elapsed.replyTo.tell(new StepDone(elapsed.startNanos, clock.nowNanos()));
        steps.remove();
        var next = steps.peek();
        if (next != null) {
            start(next);
        }
        return this;
    }

    private void start(ExecuteStep step) {
        var elapsed = new StepElapsed(step.replyTo, clock.nowNanos());
        timers.startSingleTimer(STEP_TIMER, elapsed, Duration.ofNanos(stepNanos(step.batch)));
    }

    private long stepNanos(BatchShape batch) {
        long nanos = latency.stepNanos(batch);
        long slowed = slowdown == 1 ? nanos : Math.max(1, Math.round(nanos * slowdown));
        return Math.min(slowed, Durations.MAX_NANOS);
    }
}

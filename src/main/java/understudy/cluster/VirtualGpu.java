package understudy.cluster;

import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import understudy.latency.BatchShape;
import understudy.latency.JitteredLatency;
import understudy.latency.LatencyModel;
import understudy.runtime.Clock;
import understudy.workload.Durations;
import understudy.workload.RandomStreams;

/**
 * One GPU, or a group of GPUs that work as one: runs one step at a time, and takes as long as its latency model says.
 * One more step may wait behind the running one.
 *
 * <p>Messages are told apart by type tests: it handles one in every step.
 */
public final class VirtualGpu extends ExtensibleBehavior<VirtualGpu.Command> {

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

    /** The step sent last: how long it takes as the model says, when it runs, and what tells of its end to whom. */
    private long modelNanos;

    private long startNanos;
    private long endNanos;
    private ActorRef<? super StepDone> replyTo;
    private Cancellable done = Cancellable.alreadyCancelled();

    /** What tells of the end of the step before. */
    private Cancellable previousDone = done;

    private VirtualGpu(ActorContext<Command> context, Clock clock, LatencyModel latency) {
        this.clock = clock;
        this.latency = latency;
        replyTo = context.getSystem().ignoreRef();
    }

    /** Creates an idle device. */
    public static Behavior<Command> create(Clock clock, LatencyModel latency) {
        return Behaviors.setup(context -> new VirtualGpu(context, clock, latency));
    }

    @Override
    public Behavior<Command> receive(TypedActorContext<Command> context, Command command) {
        if (command instanceof ExecuteStep step) {
            onExecuteStep(step);
        } else if (command instanceof SetSlowdown set) {
            onSetSlowdown(set);
        }
        return this;
    }

    @Override
    public Behavior<Command> receiveSignal(TypedActorContext<Command> context, Signal signal) {
        if (signal instanceof PostStop) {
            previousDone.cancel();
            done.cancel();
        }
        return Behaviors.unhandled();
    }

    private void onExecuteStep(ExecuteStep step) {
        long nowNanos = clock.nowNanos();
        if (startNanos > nowNanos) {
            throw new IllegalStateException("a step is running and another one waits; no room for a third");
        }
        previousDone = done;
        modelNanos = latency.stepNanos(step.batch);
        startNanos = Math.max(nowNanos, endNanos);
        replyTo = step.replyTo;
        schedule();
    }

    /** A step that has not begun takes as long as is said now. */
    private void onSetSlowdown(SetSlowdown set) {
        slowdown = set.factor;
        if (startNanos > clock.nowNanos()) {
            done.cancel();
            schedule();
        }
    }

    private void schedule() {
        long slowed = slowdown == 1 ? modelNanos : Math.max(1, Math.round(modelNanos * slowdown));
        endNanos = startNanos + Math.min(slowed, Durations.MAX_NANOS);
        done = clock.tellAfter(endNanos - clock.nowNanos(), replyTo, new StepDone(startNanos, endNanos));
    }
}

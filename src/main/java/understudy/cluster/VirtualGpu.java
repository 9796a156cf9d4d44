package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.lockstep.DataParallelGroup;
import understudy.cluster.lockstep.DataParallelSpec;
import understudy.cluster.lockstep.EarlierStages;
import understudy.cluster.lockstep.StageTimes;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.latency.BatchShape;
import understudy.latency.JitteredLatency;
import understudy.latency.LatencyModel;
import understudy.runtime.Clock;
import understudy.settings.Durations;
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

    /**
     * Runs one step; replies when the virtual hardware has finished it.
     *
     * @param numDrafts drafts to verify of each scheduled request; empty without speculation
     */
    public record ExecuteStep(BatchShape batch, IntList numDrafts, ActorRef<? super StepDone> replyTo)
            implements Command {

        /** Runs a step without drafts. */
        public ExecuteStep(BatchShape batch, ActorRef<? super StepDone> replyTo) {
            this(batch, IntList.of(), replyTo);
        }
    }

    /** Steps that begin from now on take {@code factor} times as long as the model says; above 0, at first 1. */
    public record SetSlowdown(double factor) implements Command {}

    /**
     * A step ran from {@code startNanos} to {@code endNanos}. Steps finish in the order in which they were sent.
     *
     * @param drafts what has become of its drafts
     * @param groupStep which step of the replica's data-parallel group it was, from 0; -1 if the replica steps alone
     */
    public record StepDone(long startNanos, long endNanos, DraftOutput drafts, long groupStep)
            implements Replica.Command {
        private static final long NO_GROUP = -1;

        /** A step without drafts ran. */
        public StepDone(long startNanos, long endNanos) {
            this(startNanos, endNanos, DraftOutput.NONE);
        }

        /** A step of a replica ran that steps alone. */
        StepDone(long startNanos, long endNanos, DraftOutput drafts) {
            this(startNanos, endNanos, drafts, NO_GROUP);
        }
    }

    /** A step of the replica's data-parallel group ran. */
    private record GroupRan(DataParallelGroup.Ran step) implements Command {}

    /** Makes the device of a replica. A value: it makes any number of them. */
    @FunctionalInterface
    public interface Factory {

        /**
         * Returns an idle device.
         *
         * @param group the data-parallel group that the replica steps with; null if it steps alone
         */
        Behavior<Command> create(Clock clock, int replicaIndex, @Nullable ActorRef<DataParallelGroup.Command> group);

        /** Returns the group that each replica is to be part of; empty if it steps alone. */
        default Optional<DataParallelSpec> dataParallel() {
            return Optional.empty();
        }

        /** Returns the factory of devices that take as long as a model says. */
        static Factory of(LatencyModel latency) {
            return (clock, replicaIndex, group) -> VirtualGpu.create(clock, latency);
        }
    }

    /**
     * Makes devices that take as long as a model says.
     *
     * @param sigma standard deviation of the logarithm of a step's time, at least 0; with 0 nothing scatters
     * @param drafts which drafts there are, and which are accepted; null without speculation
     * @param streams a random stream each for noise and for drafts
     * @param dataParallelSize replicas that step together, at least 1
     * @param earlier the stages before the last one, whose time is that of {@code latency}
     */
    public record Modelled(
            LatencyModel latency,
            double sigma,
            SyntheticDrafts.@Nullable Spec drafts,
            RandomStreams streams,
            int dataParallelSize,
            EarlierStages earlier)
            implements Factory {

        @Override
        public Behavior<Command> create(
                Clock clock, int replicaIndex, @Nullable ActorRef<DataParallelGroup.Command> group) {
            var jittered =
                    sigma == 0 ? null : new JitteredLatency(latency, sigma, streams.stream("jitter", replicaIndex));
            var verifier = drafts == null
                    ? null
                    : new SyntheticDrafts(drafts, streams.stream("drafts", replicaIndex)::nextDouble);
            return group == null
                    ? VirtualGpu.create(clock, jittered == null ? latency : jittered, verifier, earlier)
                    : Behaviors.setup(context -> new OfGroup(context, replicaIndex, group, jittered, verifier));
        }

        @Override
        public Optional<DataParallelSpec> dataParallel() {
            return dataParallelSize == 1
                    ? Optional.empty()
                    : Optional.of(new DataParallelSpec(dataParallelSize, latency));
        }
    }

    /** Device of a data-parallel rank: its steps are those of the group. */
    private static final class OfGroup extends ExtensibleBehavior<Command> {
        private final int replicaIndex;
        private final ActorRef<DataParallelGroup.Command> group;
        private final ActorRef<DataParallelGroup.Ran> self;
        private final @Nullable JitteredLatency jittered;
        private final @Nullable SyntheticDrafts drafts;

        /** The batches that run and wait. */
        private final Deque<InFlight> inFlight = new ArrayDeque<>(2);

        private record InFlight(ActorRef<? super StepDone> replyTo, DraftOutput output) {}

        OfGroup(
                ActorContext<Command> context,
                int replicaIndex,
                ActorRef<DataParallelGroup.Command> group,
                @Nullable JitteredLatency jittered,
                @Nullable SyntheticDrafts drafts) {
            this.replicaIndex = replicaIndex;
            this.group = group;
            this.jittered = jittered;
            this.drafts = drafts;
            self = context.messageAdapter(DataParallelGroup.Ran.class, GroupRan::new);
            group.tell(new DataParallelGroup.Join(replicaIndex));
        }

        @Override
        public Behavior<Command> receive(TypedActorContext<Command> context, Command command) {
            if (command instanceof ExecuteStep step) {
                var output = drafts == null ? DraftOutput.NONE : drafts.execute(step.numDrafts);
                inFlight.add(new InFlight(step.replyTo, output));
                double factor = jittered == null ? 1 : jittered.factor();
                group.tell(new DataParallelGroup.Submit(replicaIndex, step.batch, factor, self));
            } else if (command instanceof GroupRan ran) {
                var done = inFlight.remove();
                done.replyTo.tell(
                        new StepDone(ran.step.startNanos(), ran.step.endNanos(), done.output, ran.step.number()));
            } else if (command instanceof SetSlowdown set) {
                group.tell(new DataParallelGroup.SetSlowdown(replicaIndex, set.factor));
            }
            return this;
        }

        @Override
        public Behavior<Command> receiveSignal(TypedActorContext<Command> context, Signal signal) {
            if (signal instanceof PostStop) {
                group.tell(new DataParallelGroup.Leave(replicaIndex));
            }
            return Behaviors.unhandled();
        }
    }

    private final Clock clock;
    private final LatencyModel latency;
    private final @Nullable SyntheticDrafts drafts;
    private final EarlierStages earlier;
    private final StageTimes stages;
    private double slowdown = 1;

    /** The step sent last: how long it takes as the model says, when it runs, and what tells of its end to whom. */
    private long modelNanos;

    private long earlierNanos;
    private long startNanos;
    private long endNanos;
    private ActorRef<? super StepDone> replyTo;
    private DraftOutput output = DraftOutput.NONE;

    /** What tells of the ends of the steps sent last, in turn. */
    private final Cancellable[] done;

    private int numSteps;

    private VirtualGpu(
            ActorContext<Command> context,
            Clock clock,
            LatencyModel latency,
            @Nullable SyntheticDrafts drafts,
            EarlierStages earlier) {
        this.clock = clock;
        this.latency = latency;
        this.drafts = drafts;
        this.earlier = earlier;
        stages = new StageTimes(earlier.count() + 1);
        done = new Cancellable[earlier.count() + 2];
        Arrays.fill(done, Cancellable.alreadyCancelled());
        replyTo = context.getSystem().ignoreRef();
    }

    /** Creates an idle device. */
    public static Behavior<Command> create(Clock clock, LatencyModel latency) {
        return create(clock, latency, null, EarlierStages.NONE);
    }

    private static Behavior<Command> create(
            Clock clock, LatencyModel latency, @Nullable SyntheticDrafts drafts, EarlierStages earlier) {
        return Behaviors.setup(context -> new VirtualGpu(context, clock, latency, drafts, earlier));
    }

    @Override
    public Behavior<Command> receive(TypedActorContext<Command> context, Command command) {
        if (command instanceof ExecuteStep step) {
            onExecuteStep(step);
        } else if (command instanceof SetSlowdown set) {
            onSetSlowdown(set);
        } else if (command instanceof GroupRan) {
            return Behaviors.unhandled(); // a device by itself has no group
        }
        return this;
    }

    @Override
    public Behavior<Command> receiveSignal(TypedActorContext<Command> context, Signal signal) {
        if (signal instanceof PostStop) {
            for (var each : done) {
                each.cancel();
            }
        }
        return Behaviors.unhandled();
    }

    private void onExecuteStep(ExecuteStep step) {
        long nowNanos = clock.nowNanos();
        numSteps++;
        modelNanos = latency.stepNanos(step.batch);
        earlierNanos = earlier.latency().stepNanos(step.batch);
        startNanos = stages.enter(nowNanos);
        replyTo = step.replyTo;
        output = drafts == null ? DraftOutput.NONE : drafts.execute(step.numDrafts);
        schedule();
    }

    /** The step sent last takes as long as is said now if it has not begun. */
    private void onSetSlowdown(SetSlowdown set) {
        slowdown = set.factor;
        if (startNanos > clock.nowNanos()) {
            done[numSteps % done.length].cancel();
            schedule();
        }
    }

    /** A step counts from when it enters the first stage, or from the end of the one before: steps do not overlap. */
    private void schedule() {
        endNanos = stages.leave(startNanos, slowed(earlierNanos), slowed(modelNanos));
        var stepDone = new StepDone(Math.max(startNanos, stages.previousEndNanos()), endNanos, output);
        done[numSteps % done.length] = clock.tellAfter(endNanos - clock.nowNanos(), replyTo, stepDone);
    }

    private long slowed(long nanos) {
        long slowed = slowdown == 1 ? nanos : Math.max(1, Math.round(nanos * slowdown));
        return Math.min(slowed, Durations.MAX_NANOS);
    }
}

package understudy.cluster.lockstep;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.runtime.Clock;

/**
 * Ranks of a data-parallel group, whose experts exchange tokens in every layer: a step of all begins when the last one
 * has ended, and lasts as long as the slowest rank's. A rank without work steps along with a batch of one token; all rest
 * if none has work ({@code DPEngineCoreProc} of vLLM).
 *
 * <p>vLLM finds out only every 32 steps that no rank has work, and steps on with nothing until then; here the group
 * rests at once. A rank that has crashed is missing until it comes back, where vLLM's whole group goes down.
 */
public final class DataParallelGroup extends AbstractBehavior<DataParallelGroup.Command> {
    private static final BatchShape DUMMY = dummy();

    /** Messages of the group. */
    public sealed interface Command {}

    /** A rank is there: it steps along from now on. */
    public record Join(int replicaIndex) implements Command {}

    /** A rank is gone, and so are the steps that it has submitted. */
    public record Leave(int replicaIndex) implements Command {}

    /**
     * Runs a batch in the next step, or, if one of the rank's waits for that, in the one after it; answered by {@link Ran}.
     *
     * @param factor how many times longer it takes than the latency model says
     */
    public record Submit(int replicaIndex, BatchShape batch, double factor, ActorRef<? super Ran> replyTo)
            implements Command {}

    /** A rank takes {@code factor} times as long from the next step on; at first 1. */
    public record SetSlowdown(int replicaIndex, double factor) implements Command {}

    /** Step {@code number}, from 0 since the group had nothing to do, ran from {@code startNanos} to {@code endNanos}. */
    public record Ran(long startNanos, long endNanos, long number) {}

    /** Lets the ranks that have just got the end of a step plan the next one first. */
    private enum Gather implements Command {
        NOW
    }

    private enum Begin implements Command {
        NOW
    }

    private final Clock clock;
    private final LatencyModel latency;
    private final Map<Integer, Rank> ranks = new TreeMap<>();
    private boolean isUnderWay;

    /** Steps that have begun since the group had nothing to do. */
    private long numSteps;

    private static final class Rank {
        private double slowdown = 1;
        private final Deque<Submit> submitted = new ArrayDeque<>(2);
    }

    private DataParallelGroup(ActorContext<Command> context, Clock clock, LatencyModel latency) {
        super(context);
        this.clock = clock;
        this.latency = latency;
    }

    /** Creates a group without ranks. */
    public static Behavior<Command> create(Clock clock, LatencyModel latency) {
        return Behaviors.setup(context -> new DataParallelGroup(context, clock, latency));
    }

    private static BatchShape dummy() {
        var batch = new BatchShape.Builder();
        batch.add(1, 0, true);
        return batch.build();
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Submit.class, this::onSubmit)
                .onMessage(Gather.class, now -> tellSelf(0, Begin.NOW))
                .onMessage(Begin.class, now -> onBegin())
                .onMessage(Join.class, this::onJoin)
                .onMessage(Leave.class, this::onLeave)
                .onMessage(SetSlowdown.class, this::onSetSlowdown)
                .build();
    }

    private Behavior<Command> onJoin(Join join) {
        ranks.put(join.replicaIndex, new Rank());
        return this;
    }

    private Behavior<Command> onLeave(Leave leave) {
        ranks.remove(leave.replicaIndex);
        return this;
    }

    private Behavior<Command> onSetSlowdown(SetSlowdown set) {
        rank(set.replicaIndex).slowdown = set.factor;
        return this;
    }

    private Behavior<Command> onSubmit(Submit submit) {
        rank(submit.replicaIndex).submitted.add(submit);
        if (!isUnderWay) {
            isUnderWay = true;
            tellSelf(0, Gather.NOW);
        }
        return this;
    }

    private Behavior<Command> onBegin() {
        isUnderWay = hasWork();
        numSteps = isUnderWay ? numSteps + 1 : 0;
        if (isUnderWay) {
            long startNanos = clock.nowNanos();
            long nanos = nanos();
            for (var rank : ranks.values()) {
                var submit = rank.submitted.poll();
                if (submit != null) {
                    clock.tellAfter(nanos, submit.replyTo, new Ran(startNanos, startNanos + nanos, numSteps - 1));
                }
            }
            tellSelf(nanos, Gather.NOW);
        }
        return this;
    }

    private boolean hasWork() {
        for (var rank : ranks.values()) {
            if (!rank.submitted.isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private long nanos() {
        int numTokens = 0;
        for (var rank : ranks.values()) {
            numTokens += batch(rank.submitted.peek()).numTokens();
        }
        double longest = 1;
        for (var rank : ranks.values()) {
            var submit = rank.submitted.peek();
            double factor = submit == null ? rank.slowdown : rank.slowdown * submit.factor;
            longest = Math.max(longest, factor * latency.stepNanos(batch(submit).inGroupOf(numTokens)));
        }
        return LatencyModel.roundToNanos(longest);
    }

    private static BatchShape batch(@Nullable Submit submit) {
        return submit == null ? DUMMY : submit.batch;
    }

    private Behavior<Command> tellSelf(long delayNanos, Command command) {
        clock.tellAfter(delayNanos, getContext().getSelf(), command);
        return this;
    }

    private Rank rank(int replicaIndex) {
        var rank = ranks.get(replicaIndex);
        if (rank == null) {
            throw new IllegalStateException("replica " + replicaIndex + " has not joined");
        }
        return rank;
    }
}

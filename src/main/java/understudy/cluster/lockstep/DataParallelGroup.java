package understudy.cluster.lockstep;

import java.util.ArrayDeque;
import java.util.ArrayList;
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
import understudy.engine.RankRules;
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
 *
 * <p>Ranks may have {@link RankRules} besides: then each says when it has something to plan, and plans once it is told
 * what all keep to. That is once for each step, when it begins or when it has ended; a group at rest answers at once.
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
     * @param isPrefill whether it is a prefill, for ranks whose batches are either that or not
     * @param factor how many times longer it takes than the latency model says
     */
    public record Submit(
            int replicaIndex, BatchShape batch, boolean isPrefill, double factor, ActorRef<? super Ran> replyTo)
            implements Command {}

    /** A rank has something to plan; answered by {@link Agreed} when it is its turn. What it says last counts. */
    public record Propose(int replicaIndex, RankRules.Word word, ActorRef<? super Agreed> replyTo) implements Command {}

    /** The ranks may plan a turn. */
    public record Agreed(RankRules.Turn turn) {}

    /** A rank takes {@code factor} times as long from the next step on; at first 1. */
    public record SetSlowdown(int replicaIndex, double factor) implements Command {}

    /** A rank takes {@code nanos} longer than that from the next step on; at first 0. */
    public record SetDelay(int replicaIndex, long nanos) implements Command {}

    /** Step {@code number}, from 0 since the group had nothing to do, ran from {@code startNanos} to {@code endNanos}. */
    public record Ran(long startNanos, long endNanos, long number) {}

    /** Lets the ranks that have just got the end of a step plan the next one first. */
    private enum Gather implements Command {
        NOW
    }

    private enum Begin implements Command {
        NOW
    }

    private enum Agree implements Command {
        NOW
    }

    private final Clock clock;
    private final LatencyModel latency;
    private final RankRules rules;
    private final RankRules.@Nullable Agreement agreement;
    private final Map<Integer, Rank> ranks = new TreeMap<>();
    private boolean isUnderWay;

    /** Whether a prefill was submitted since the ranks agreed last. */
    private boolean hasPrefilled;

    /** Steps that have begun since the group had nothing to do. */
    private long numSteps;

    private static final class Rank {
        private double slowdown = 1;
        private long delayNanos;
        private final Deque<Submit> submitted = new ArrayDeque<>(2);
        private @Nullable Propose proposed;
    }

    private DataParallelGroup(ActorContext<Command> context, Clock clock, LatencyModel latency, RankRules rules) {
        super(context);
        this.clock = clock;
        this.latency = latency;
        this.rules = rules;
        agreement = rules.agreement() == null ? null : rules.agreement().get();
    }

    /** Creates a group without ranks. */
    public static Behavior<Command> create(Clock clock, LatencyModel latency, RankRules rules) {
        return Behaviors.setup(context -> new DataParallelGroup(context, clock, latency, rules));
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
                .onMessage(Propose.class, this::onPropose)
                .onMessage(Gather.class, now -> tellSelf(0, Begin.NOW))
                .onMessage(Begin.class, now -> onBegin())
                .onMessage(Agree.class, now -> onAgree())
                .onMessage(Join.class, this::onJoin)
                .onMessage(Leave.class, this::onLeave)
                .onMessage(SetSlowdown.class, this::onSetSlowdown)
                .onMessage(SetDelay.class, this::onSetDelay)
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

    private Behavior<Command> onSetDelay(SetDelay set) {
        rank(set.replicaIndex).delayNanos = set.nanos;
        return this;
    }

    private Behavior<Command> onSubmit(Submit submit) {
        rank(submit.replicaIndex).submitted.add(submit);
        hasPrefilled |= submit.isPrefill;
        return wake();
    }

    private Behavior<Command> onPropose(Propose propose) {
        rank(propose.replicaIndex).proposed = propose;
        return wake();
    }

    private Behavior<Command> wake() {
        if (!isUnderWay) {
            isUnderWay = true;
            tellSelf(0, Gather.NOW);
        }
        return this;
    }

    private Behavior<Command> onBegin() {
        boolean hasWork = hasWork();
        numSteps = hasWork ? numSteps + 1 : 0;
        if (hasWork) {
            step();
            return rules.areAhead() ? tellSelf(0, Agree.NOW) : this;
        }
        isUnderWay = agree();
        // What the ranks plan now is the next step.
        return isUnderWay ? tellSelf(0, Begin.NOW) : this;
    }

    private Behavior<Command> onAgree() {
        agree();
        return this;
    }

    private void step() {
        long startNanos = clock.nowNanos();
        boolean hasPrefill = hasPrefill();
        long nanos = nanos(hasPrefill);
        for (var rank : ranks.values()) {
            var submit = next(rank, hasPrefill);
            if (submit != null) {
                rank.submitted.remove();
                clock.tellAfter(nanos, submit.replyTo, new Ran(startNanos, startNanos + nanos, numSteps - 1));
            }
        }
        tellSelf(nanos, Gather.NOW);
    }

    /** Has the ranks that have something to plan do so; returns whether there are any. */
    private boolean agree() {
        var proposals = new ArrayList<Propose>(ranks.size());
        for (var rank : ranks.values()) {
            if (rank.proposed != null) {
                proposals.add(rank.proposed);
                rank.proposed = null;
            }
        }
        if (proposals.isEmpty() || agreement == null) {
            return false;
        }
        var words = proposals.stream().map(Propose::word).toList();
        var agreed = new Agreed(agreement.next(words, ranks.size(), hasPrefilled, clock.nowNanos()));
        hasPrefilled = false;
        proposals.forEach(proposal -> proposal.replyTo.tell(agreed));
        return true;
    }

    private boolean hasWork() {
        for (var rank : ranks.values()) {
            if (!rank.submitted.isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private boolean hasPrefill() {
        for (var rank : ranks.values()) {
            var submit = rank.submitted.peek();
            if (submit != null && submit.isPrefill) {
                return true;
            }
        }
        return false;
    }

    /** Returns what a rank runs in the next step, or null if it only steps along. */
    private @Nullable Submit next(Rank rank, boolean hasPrefill) {
        var submit = rank.submitted.peek();
        boolean sitsOut = submit != null && rules.separatesPrefills() && hasPrefill && !submit.isPrefill;
        return sitsOut ? null : submit;
    }

    private long nanos(boolean hasPrefill) {
        int numTokens = 0;
        for (var rank : ranks.values()) {
            numTokens += batch(next(rank, hasPrefill)).numTokens();
        }
        double longest = 1;
        for (var rank : ranks.values()) {
            var submit = next(rank, hasPrefill);
            double factor = submit == null ? rank.slowdown : rank.slowdown * submit.factor;
            var batch = batch(submit).inGroupOf(numTokens, hasPrefill);
            longest = Math.max(longest, factor * latency.stepNanos(batch) + rank.delayNanos);
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

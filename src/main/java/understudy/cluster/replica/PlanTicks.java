package understudy.cluster.replica;

import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaSpec;
import understudy.runtime.Clock;

/** Times of a replica's plans: as soon as there is a reason, or, if it plans at fixed intervals, at the next tick. */
final class PlanTicks {
    private final Clock clock;
    private final ActorRef<Replica.Command> replica;
    private final long intervalNanos;
    private final boolean hasTicks;
    private boolean isTicking;
    private Cancellable next = Cancellable.alreadyCancelled();
    private long nextNanos = -1;
    private long emptyUntilNanos;

    /** Creates ticks that have not begun; the replica is told when it is time, after all messages of the instant. */
    PlanTicks(ReplicaSpec spec, Clock clock, ActorRef<Replica.Command> replica) {
        this.clock = clock;
        this.replica = replica;
        intervalNanos = spec.planIntervalNanos();
        hasTicks = intervalNanos > 0 && spec.engineTraits().maxStepsInFlight() > 1;
    }

    /** Returns whether a plan may be made at any time, since there are no ticks to wait for. */
    boolean areFree() {
        return !hasTicks;
    }

    /** Plans soon, since something has happened that a plan could take account of; an empty plan ends before. */
    void planSoon() {
        planAfter(Math.max(0, emptyUntilNanos - clock.nowNanos()));
    }

    /** Plans again after a plan in which nothing could be scheduled, which takes as long as a tick. */
    void planAfterEmptyPlan() {
        emptyUntilNanos = clock.nowNanos() + intervalNanos;
        planAfter(intervalNanos);
    }

    /** Continues ticking as long as there is work. */
    void onTick(boolean hasWork) {
        nextNanos = -1;
        isTicking = hasWork && hasTicks;
        if (isTicking) {
            tellAfter(intervalNanos);
        }
    }

    /** Ends all ticks. */
    void stop() {
        next.cancel();
    }

    /** While there are ticks, none but the first one comes at once. */
    private void planAfter(long delayNanos) {
        if (isTicking) {
            return;
        }
        isTicking = hasTicks;
        tellAfter(delayNanos);
    }

    /** Replaces the tick that is set, unless that is at the same time. */
    private void tellAfter(long delayNanos) {
        long atNanos = clock.nowNanos() + delayNanos;
        if (atNanos != nextNanos) {
            next.cancel();
            next = clock.tellAfter(delayNanos, replica, Replica.PlanStep.NOW);
            nextNanos = atNanos;
        }
    }
}

package understudy.cluster;

import java.time.Duration;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/** Times of a replica's plans: as soon as there is a reason, or, if it plans at fixed intervals, at the next tick. */
final class PlanTicks {
    private final TimerScheduler<Replica.Command> timers;
    private final Replica.Command planStep;
    private final Duration interval;
    private final boolean hasTicks;
    private boolean isTicking;

    /**
     * Creates ticks that have not begun.
     *
     * @param planStep what the replica is told when it is time, after all messages of the instant
     */
    PlanTicks(ReplicaSpec spec, TimerScheduler<Replica.Command> timers, Replica.Command planStep) {
        this.timers = timers;
        this.planStep = planStep;
        interval = Duration.ofNanos(spec.planIntervalNanos());
        hasTicks = !interval.isZero() && spec.scheduler().maxStepsInFlight() > 1;
    }

    /** Plans soon, since something has happened that a plan could take account of. */
    void planSoon() {
        planAfter(Duration.ZERO);
    }

    /** Plans again after a plan in which nothing could be scheduled, which takes as long as a tick. */
    void planAfterEmptyPlan() {
        planAfter(interval);
    }

    /** Continues ticking as long as there is work. */
    void onTick(boolean hasWork) {
        isTicking = hasWork && hasTicks;
        if (isTicking) {
            startTimer(interval);
        }
    }

    /** While there are ticks, none but the first one comes at once. */
    private void planAfter(Duration delay) {
        if (isTicking) {
            return;
        }
        isTicking = hasTicks;
        startTimer(delay);
    }

    private void startTimer(Duration delay) {
        timers.startSingleTimer(planStep, planStep, delay);
    }
}

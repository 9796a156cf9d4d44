package understudy.cluster;

import java.time.Duration;
import java.util.Optional;

/** When a replica that plans at fixed intervals makes its next plan; one without ticks may plan at any time. */
final class PlanTicks {
    private final Duration interval;
    private final boolean hasTicks;
    private boolean isTicking;

    PlanTicks(ReplicaSpec spec) {
        interval = Duration.ofNanos(spec.planIntervalNanos());
        hasTicks = !interval.isZero() && spec.scheduler().maxStepsInFlight() > 1;
    }

    /** Returns how long an empty plan takes. */
    Duration interval() {
        return interval;
    }

    /** Returns whether a plan may be made right now because something has happened; the first one starts the ticks. */
    boolean mayStart() {
        if (!hasTicks) {
            return true;
        }
        boolean wasTicking = isTicking;
        isTicking = true;
        return !wasTicking;
    }

    /** Returns how long after this tick the next one comes, if there is one. */
    Optional<Duration> onTick(boolean hasWork) {
        isTicking = hasWork;
        return hasWork && hasTicks ? Optional.of(interval) : Optional.empty();
    }
}

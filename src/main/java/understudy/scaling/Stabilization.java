package understudy.scaling;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Stabilization of an HPA with {@code behavior} ({@code horizontal.go}): of the recommendations of a window the lowest
 * counts on the way up and the highest on the way down, and policies limit how many replicas come and go in a period.
 * The number at the beginning counts as a first recommendation.
 *
 * <p>From zero and to zero it passes everything, since KEDA does that beside its HPA.
 */
public final class Stabilization {
    private final ScalingBehavior behavior;
    private final SlidingExtreme lowest;
    private final SlidingExtreme highest;
    private final Deque<Timed> changes = new ArrayDeque<>();

    /** A change of the number of replicas, and the time it was decided. */
    private record Timed(long atNanos, int count) {}

    /** Begins at time 0 with so many replicas. */
    public Stabilization(ScalingBehavior behavior, int numReplicas) {
        this.behavior = behavior;
        lowest = new SlidingExtreme(Math::min, behavior.up().windowNanos());
        highest = new SlidingExtreme(Math::max, behavior.down().windowNanos());
        recommend(0, numReplicas);
    }

    private void recommend(long atNanos, int numReplicas) {
        lowest.add(atNanos, numReplicas);
        highest.add(atNanos, numReplicas);
    }

    /** Returns how many replicas there shall be after {@code current}, if a rule desires so many. */
    public int next(long nowNanos, int current, int desired) {
        int next = behavior.minReplicas() == 0 && (current == 0 || desired == 0)
                ? desired
                : limited(nowNanos, current, stabilized(nowNanos, current, desired));
        recommend(nowNanos, desired);
        if (next != current) {
            changes.add(new Timed(nowNanos, next - current));
        }
        forget(nowNanos);
        return next;
    }

    private int stabilized(long nowNanos, int current, int desired) {
        int up = lowest.with(desired, nowNanos);
        int down = highest.with(desired, nowNanos);
        return Math.min(Math.max(current, up), down);
    }

    /** Outside of the limits the number moves to them at once. */
    private int limited(long nowNanos, int current, int desired) {
        int min = Math.max(1, behavior.minReplicas());
        int max = behavior.maxReplicas();
        if (current < min || current > max) {
            return Math.min(Math.max(current, min), max);
        }
        return desired > current
                ? Math.min(desired, Math.min(max, Math.max(current, mostAfter(nowNanos, current))))
                : Math.max(desired, Math.max(min, Math.min(current, fewestAfter(nowNanos, current))));
    }

    private int mostAfter(long nowNanos, int current) {
        var up = behavior.up();
        int before = atBeginningOf(up.periodNanos(), nowNanos, current);
        return Math.max(before + up.pods(), (int) Math.ceil(before * (1 + up.percent() / 100)));
    }

    private int fewestAfter(long nowNanos, int current) {
        var down = behavior.down();
        int before = atBeginningOf(down.periodNanos(), nowNanos, current);
        return Math.min(before - down.pods(), (int) (before * (1 - down.percent() / 100)));
    }

    /** Returns how many replicas there were when the present period began. */
    private int atBeginningOf(long periodNanos, long nowNanos, int current) {
        return current
                - changes.stream()
                        .filter(change -> isWithin(change, periodNanos, nowNanos))
                        .mapToInt(Timed::count)
                        .sum();
    }

    private static boolean isWithin(Timed timed, long nanos, long nowNanos) {
        return timed.atNanos > nowNanos - nanos;
    }

    private void forget(long nowNanos) {
        long period = Math.max(behavior.up().periodNanos(), behavior.down().periodNanos());
        changes.removeIf(each -> !isWithin(each, period, nowNanos));
    }
}

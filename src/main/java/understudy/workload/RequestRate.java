package understudy.workload;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rate of arrivals over time: constant, or changing at some times. Immutable.
 *
 * @param pieces in order of time, the first one from 0 on, the last one for ever
 * @param rampUp ramp that replaces the pieces, or null
 */
public record RequestRate(List<Piece> pieces, @Nullable RampUp rampUp) {
    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * Rate from a time on.
     *
     * @param perSecond at least 0, and above 0 in the last piece; infinite makes everything arrive at once
     */
    public record Piece(double fromNanos, double perSecond) {}

    /** Returns a rate that never changes, above 0. */
    public static RequestRate constant(double perSecond) {
        return new RequestRate(List.of(new Piece(0, perSecond)), null);
    }

    /** Returns a rate that follows the number of arrivals. */
    public static RequestRate of(RampUp rampUp) {
        return new RequestRate(List.of(new Piece(0, rampUp.endPerSecond())), rampUp);
    }

    /** Returns this rate as it is until the first of these changes, in any order. */
    public RequestRate changing(List<Piece> changes) {
        var all = new ArrayList<>(changes);
        all.sort(Comparator.comparingDouble(Piece::fromNanos));
        if (all.isEmpty() || all.get(0).fromNanos > 0) {
            all.add(0, pieces.get(0));
        }
        return new RequestRate(List.copyOf(all), null);
    }

    /** Returns the rate that stays. */
    public double lastPerSecond() {
        return pieces.get(pieces.size() - 1).perSecond;
    }

    /** Returns which piece holds at a time, from 0. */
    int pieceAt(long nanos) {
        int piece = 0;
        while (piece + 1 < pieces.size() && pieces.get(piece + 1).fromNanos <= nanos) {
            piece++;
        }
        return piece;
    }

    /** Returns when the arrival with a number from 0 comes, given the one before it and the gap in mean gaps. */
    double nanosOfArrival(long index, double previousNanos, double numArrivals) {
        return rampUp == null
                ? nanosAfter(previousNanos, numArrivals)
                : previousNanos + numArrivals * NANOS_PER_SECOND / rampUp.perSecond(index);
    }

    /** Returns when so many arrivals, which need not be whole, are to be expected after a time. */
    double nanosAfter(double fromNanos, double numArrivals) {
        double nanos = fromNanos;
        double left = numArrivals;
        for (int i = 0; i < pieces.size() - 1; i++) {
            double endNanos = pieces.get(i + 1).fromNanos;
            double expected = Math.max(0, endNanos - nanos) / gapNanos(i);
            if (expected >= left) {
                return nanos + gapNanos(i) * left;
            }
            left -= expected;
            nanos = Math.max(nanos, endNanos);
        }
        return nanos + gapNanos(pieces.size() - 1) * left;
    }

    private double gapNanos(int piece) {
        return NANOS_PER_SECOND / pieces.get(piece).perSecond;
    }
}

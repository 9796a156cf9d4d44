package understudy.runtime;

/**
 * The line that ties virtual time to wall time: at {@code originWallNanos} the virtual time was
 * {@code originVirtualNanos}, and since then it runs {@code speed} times as fast as the wall clock.
 *
 * @param speed virtual seconds per wall second, above 0; infinite means as fast as possible
 */
record Pace(double speed, long originWallNanos, long originVirtualNanos) {
    /** Limit of the clock when nothing is due: 100 years, so that timers set there still fit into a long. */
    static final long END_NANOS = 100L * 365 * 24 * 3_600_000_000_000L;

    Pace {
        requireValid(speed);
    }

    static void requireValid(double speed) {
        if (!(speed > 0)) {
            throw new IllegalArgumentException("speed must be above 0: " + speed);
        }
    }

    boolean isUnlimited() {
        return speed == Double.POSITIVE_INFINITY;
    }

    /** Returns the virtual time that the wall clock calls for; it stands still once {@link #END_NANOS} is reached. */
    long virtualAt(long wallNanos) {
        long passedNanos = (long) ((wallNanos - originWallNanos) * speed);
        long leftNanos = Math.max(0, END_NANOS - originVirtualNanos);
        return originVirtualNanos + Math.min(passedNanos, leftNanos);
    }

    /** Returns the wall time at which the virtual time is due. */
    long wallAt(long virtualNanos) {
        double waitNanos = (virtualNanos - originVirtualNanos) / speed;
        return waitNanos < 1e18 ? originWallNanos + (long) waitNanos : Long.MAX_VALUE;
    }
}

package understudy.api;

/** Spreads work over time, so that it does not keep others from theirs. Thread-safe. */
final class Pace {
    private final double nanosPerByte;
    private final long burstNanos;
    private long busyUntilNanos;

    /**
     * Creates a pace.
     *
     * @param burstBytes what may pass at once after a rest
     */
    Pace(long bytesPerSecond, long burstBytes) {
        nanosPerByte = 1e9 / bytesPerSecond;
        burstNanos = (long) (burstBytes * nanosPerByte);
        busyUntilNanos = -burstNanos;
    }

    /** Lets some bytes pass, and returns how long to wait before the next ones. */
    synchronized long passNanos(long numBytes, long nowNanos) {
        busyUntilNanos = Math.max(busyUntilNanos, nowNanos - burstNanos) + (long) (numBytes * nanosPerByte);
        return Math.max(0, busyUntilNanos - nowNanos);
    }
}

package understudy.api.http;

/** Limit of bytes per second: says how long to wait, so that a flood leaves time for others. Thread-safe. */
final class ByteRate {
    private final double nanosPerByte;
    private final long burstNanos;
    private long busyUntilNanos;

    /**
     * Creates a limit.
     *
     * @param burstBytes most bytes that may pass at once after a rest
     */
    ByteRate(long bytesPerSecond, long burstBytes) {
        nanosPerByte = 1e9 / bytesPerSecond;
        burstNanos = (long) (burstBytes * nanosPerByte);
        busyUntilNanos = -burstNanos;
    }

    /** Counts passing bytes, and returns how long to wait before the next ones. */
    synchronized long passNanos(long numBytes, long nowNanos) {
        busyUntilNanos = Math.max(busyUntilNanos, nowNanos - burstNanos) + (long) (numBytes * nanosPerByte);
        return Math.max(0, busyUntilNanos - nowNanos);
    }
}

package understudy.transfer;

/**
 * Bytes that have gone by at changing rates, exact to a billionth of a byte, so that no rounding adds up.
 *
 * <p>Whole bytes per second times whole nanoseconds are whole billionths of a byte.
 */
final class ByteClock {
    private static final long BILLION = 1_000_000_000;

    /** Longer than this, in seconds, is never: about 30 years. */
    private static final long MAX_SECONDS = BILLION;

    private long bytes;
    private long nanoBytes;

    /** Returns a clock that shows {@code more} bytes more than this one. */
    ByteClock plus(long more) {
        var later = new ByteClock();
        later.bytes = bytes + more;
        later.nanoBytes = nanoBytes;
        return later;
    }

    /** Lets bytes go by. */
    void advance(long bytesPerSecond, long nanos) {
        long restNanos = nanos % BILLION;
        nanoBytes += bytesPerSecond % BILLION * restNanos;
        bytes += bytesPerSecond * (nanos / BILLION) + bytesPerSecond / BILLION * restNanos + nanoBytes / BILLION;
        nanoBytes %= BILLION;
    }

    /** Returns how many whole bytes are missing until another clock's state, at least 0. */
    long bytesUntil(ByteClock later) {
        return Math.max(0, later.bytes - bytes + Math.floorDiv(later.nanoBytes - nanoBytes + BILLION - 1, BILLION));
    }

    int compareTo(ByteClock other) {
        return bytes == other.bytes ? Long.compare(nanoBytes, other.nanoBytes) : Long.compare(bytes, other.bytes);
    }

    /** Returns the whole nanoseconds until another clock's state is reached, or {@link Long#MAX_VALUE} for never. */
    long nanosUntil(ByteClock later, long bytesPerSecond) {
        if (compareTo(later) >= 0) {
            return 0;
        }
        long missing = later.bytes - bytes;
        if (bytesPerSecond == 0 || missing / bytesPerSecond >= MAX_SECONDS) {
            return Long.MAX_VALUE;
        }
        return billionfold(missing, bytesPerSecond, nanoBytes - later.nanoBytes);
    }

    /**
     * Returns (dividend * 10^9 - less) / divisor, rounded up; in steps of a thousand, as the product is too large for a
     * long.
     */
    private static long billionfold(long dividend, long divisor, long less) {
        long quotient = dividend / divisor;
        long rest = dividend % divisor;
        for (int i = 0; i < 3; i++) {
            quotient = quotient * 1_000 + rest * 1_000 / divisor;
            rest = rest * 1_000 % divisor;
        }
        return quotient - Math.floorDiv(less - rest, divisor);
    }
}

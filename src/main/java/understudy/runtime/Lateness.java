package understudy.runtime;

import org.HdrHistogram.Histogram;

/**
 * Lateness of the timers of a paced emulation, in nanoseconds of wall time; all zero when it was not paced.
 *
 * @param count timers measured
 */
public record Lateness(long count, long p50Nanos, long p99Nanos, long maxNanos) {

    static Lateness of(Histogram nanos) {
        return new Lateness(
                nanos.getTotalCount(),
                nanos.getValueAtPercentile(50),
                nanos.getValueAtPercentile(99),
                nanos.getMaxValue());
    }
}

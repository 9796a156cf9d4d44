package understudy.workload;

/**
 * Pace of a workload as its settings say it, for reports.
 *
 * @param rate of the beginnings of sessions; infinite if a trace has times of its own
 * @param burstiness shape of the gaps, see {@link Arrivals}
 * @param maxConcurrency most requests in flight, or 0 for no limit
 * @param isSelfTimed whether the workload has its own times, as a trace has
 */
public record Traffic(RequestRate rate, double burstiness, int maxConcurrency, boolean isSelfTimed) {

    /** Returns whether all is due at once, and only the limit on concurrency holds it back. */
    public boolean isClosedLoop() {
        return !isSelfTimed && Double.isInfinite(rate.lastPerSecond());
    }
}

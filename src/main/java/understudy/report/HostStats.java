package understudy.report;

/**
 * Cost of a run on the machine it ran on; different from run to run.
 *
 * @param wallSeconds from the first event of the emulation to its last
 * @param numEvents messages handled, those that a timer sends included
 * @param usedHeapBytes heap in use at the end, garbage included
 * @param latenessP50Nanos median lateness of timers against the wall clock; 0 unless paced
 * @param latenessP99Nanos 99th percentile of the same
 * @param latenessMaxNanos largest of the same
 */
public record HostStats(
        double wallSeconds,
        long numEvents,
        long usedHeapBytes,
        long latenessP50Nanos,
        long latenessP99Nanos,
        long latenessMaxNanos) {}

package understudy.chaos.evidence;

import java.util.List;

/**
 * How late the machine was, as a thread of the kit saw it that wanted to run every few milliseconds: other programs, the
 * collector of garbage or a machine that stood still kept it from that, and so the gateway and the replicas, too.
 *
 * @param stalls spans in which the thread wanted to run and did not, in the order of time, without overlap
 * @param threadsPerProcessor threads of the machine that ran or could have run, for each processor, in the second in which
 *     they were most; 0 where the system does not tell. They show what the spans do not: a thread that has slept is let
 *     run at once, while others wait for their turn.
 */
public record Lateness(List<Stall> stalls, double threadsPerProcessor) {
    /** Of a machine that is always in time. */
    public static final Lateness NONE = new Lateness(List.of(), 0);

    private static final long SECOND_NANOS = 1_000_000_000L;
    private static final long MAX_NANOS_PER_SECOND = 250_000_000L;

    /** Of the kit alone on two processors there are 1.5 on average, and 4 in the worst second. */
    private static final double MAX_THREADS_PER_PROCESSOR = 5;

    /**
     * One span. Times are nanoseconds since the scenario's start.
     *
     * @param fromNanos when the thread wanted to run
     * @param toNanos when it ran
     */
    public record Stall(long fromNanos, long toNanos) {}

    public Lateness {
        stalls = List.copyOf(stalls);
    }

    /** Returns how much of an interval was lost. */
    public long within(long fromNanos, long toNanos) {
        return stalls.stream()
                .mapToLong(stall -> Math.min(toNanos, stall.toNanos()) - Math.max(fromNanos, stall.fromNanos()))
                .filter(overlapNanos -> overlapNanos > 0)
                .sum();
    }

    /** Returns how much of the scenario was lost. */
    public long totalNanos() {
        return within(0, Long.MAX_VALUE);
    }

    /**
     * Returns whether time says little about the gateway: in some second more than 0.25 s were lost, or threads ran at less
     * than a fifth of their speed. A second is what scenarios usually give as grace and for the recovery, and 0.25 s of it
     * is what laws leave for what is under way.
     */
    public boolean isTooMuch() {
        return isCrowded() || isLate();
    }

    /** Returns whether too many threads wanted a processor. */
    public boolean isCrowded() {
        return threadsPerProcessor > MAX_THREADS_PER_PROCESSOR;
    }

    private boolean isLate() {
        // The worst second begins where a stall does, or ends where one does.
        return stalls.stream()
                .anyMatch(stall -> isTooMuch(stall.fromNanos()) || isTooMuch(stall.toNanos() - SECOND_NANOS));
    }

    private boolean isTooMuch(long fromNanos) {
        return within(fromNanos, fromNanos + SECOND_NANOS) > MAX_NANOS_PER_SECOND;
    }
}

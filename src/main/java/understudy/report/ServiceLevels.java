package understudy.report;

import java.util.Collections;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.stream.Stream;

/**
 * Service levels: which latencies the requests of a class must keep to, and how many of them must. A class is one
 * priority, or all that have no class of their own.
 *
 * @param byPriority limits of the classes of one priority
 * @param others limits of all other requests
 */
public record ServiceLevels(SortedMap<Integer, Limits> byPriority, Limits others) {
    /** Service levels that any answer meets, and that no report mentions. */
    public static final ServiceLevels NONE =
            new ServiceLevels(Collections.emptySortedMap(), new Limits(Limits.OFF, Limits.OFF, Limits.OFF, 0));

    /** Returns whether there is a limit at all. */
    public boolean areSet() {
        return Stream.concat(byPriority.values().stream(), Stream.of(others)).anyMatch(Limits::areSet);
    }

    /** Returns the priority that is the request's class; none if it belongs to all others. */
    public OptionalInt priorityOf(RequestRecord request) {
        return byPriority.containsKey(request.priority()) ? OptionalInt.of(request.priority()) : OptionalInt.empty();
    }

    /** Returns the limits of a class. */
    public Limits of(OptionalInt priority) {
        return priority.isPresent() ? byPriority.getOrDefault(priority.getAsInt(), others) : others;
    }

    /** Returns whether a request is good by the limits of its class. */
    public boolean areMet(RequestRecord request) {
        return byPriority.getOrDefault(request.priority(), others).areMet(request);
    }

    /** Returns whether an answer is good by the limits of its class; one of one token has a TPOT of 0. */
    public boolean areMet(int priority, long ttftNanos, double tpotNanos, long e2elNanos) {
        return byPriority.getOrDefault(priority, others).areMet(ttftNanos, tpotNanos, e2elNanos);
    }

    /**
     * Limits of one class, or {@link #OFF}.
     *
     * @param ttftNanos longest time from arrival to first token
     * @param tpotNanos longest mean time per token after the first; answers of one token have none
     * @param e2elNanos longest time from arrival to last token
     * @param attainment share of the requests that must be good, 0 to 1
     */
    public record Limits(long ttftNanos, long tpotNanos, long e2elNanos, double attainment) {
        /** In place of a limit: there is none. */
        public static final long OFF = Long.MAX_VALUE;

        boolean areSet() {
            return ttftNanos != OFF || tpotNanos != OFF || e2elNanos != OFF;
        }

        /** Returns whether an answer is good: complete, and within every limit. */
        boolean areMet(RequestRecord request) {
            return request.outcome() == Outcome.COMPLETED
                    && areMet(
                            request.ttftNanos(),
                            request.numOutputTokens() == 1 ? 0 : request.tpotNanos(),
                            request.e2elNanos());
        }

        private boolean areMet(long ttft, double tpot, long e2el) {
            return ttft <= ttftNanos && tpot <= tpotNanos && e2el <= e2elNanos;
        }
    }
}

package understudy.routing.admission;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import understudy.routing.Signal;

/**
 * Specification of what happens to requests before they are routed. A value.
 *
 * @param rateLimit how many may come
 * @param saturation when they wait, or are turned away where none may wait
 * @param queue size and order of the waiting queue
 * @param ttftLimits which are turned away because their first token would come too late
 * @param ejection which replicas are left out
 */
public record AdmissionSpec(
        RateLimit rateLimit, Saturation saturation, QueueSpec queue, TtftLimits ttftLimits, EjectionSpec ejection) {
    /** Everything is routed at once. */
    public static final AdmissionSpec OPEN =
            new AdmissionSpec(RateLimit.NONE, Saturation.NEVER, QueueSpec.NONE, TtftLimits.NONE, EjectionSpec.NONE);

    /**
     * Limits of the estimated time to first token: a request that is expected to miss its own is turned away (Mooncake,
     * FAST 2025, Algorithm 1: HTTP 429).
     *
     * @param nanosByPriority limits of single priorities
     * @param otherNanos limit of all others; {@link Long#MAX_VALUE} for none
     */
    public record TtftLimits(Map<Integer, Long> nanosByPriority, long otherNanos) {
        public static final TtftLimits NONE = new TtftLimits(Map.of(), Long.MAX_VALUE);

        /** Returns the limit of a priority. */
        public long nanos(int priority) {
            return nanosByPriority.getOrDefault(priority, otherNanos);
        }
    }

    /** Returns the signals of replicas that this needs. */
    public Set<Signal> signals() {
        var signals = EnumSet.noneOf(Signal.class);
        if (saturation.needsReports()) {
            signals.add(Signal.LOAD_REPORTS);
        }
        if (ejection.isSet()) {
            signals.add(Signal.PROGRESS);
        }
        return Set.copyOf(signals);
    }
}

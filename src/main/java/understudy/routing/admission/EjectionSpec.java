package understudy.routing.admission;

/**
 * Specification of the ejection of slow replicas (Envoy's outlier detection, with time per output token in place of
 * errors): a replica whose mean time per output token over an interval exceeds the median of all by a factor gets no
 * requests for a while, longer each time.
 *
 * @param factor times the median, above 1; infinite for no ejection
 * @param intervalNanos from one look to the next, above 0
 * @param minTokens output tokens that a replica must have sampled in the interval to be judged
 * @param durationNanos how long a replica is ejected, times how often it has been
 * @param maxShare most of the replicas that are ejected at a time, 0 to 1; one may always be, but never the last that takes
 *     requests
 */
public record EjectionSpec(double factor, long intervalNanos, long minTokens, long durationNanos, double maxShare) {
    public static final EjectionSpec NONE = new EjectionSpec(Double.POSITIVE_INFINITY, 1, 0, 0, 0);

    /** Returns whether replicas are ever ejected. */
    public boolean isSet() {
        return factor < Double.POSITIVE_INFINITY;
    }
}

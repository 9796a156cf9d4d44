package understudy.routing.admission;

/**
 * Token bucket that requests are paid from: it fills at a rate, up to its burst.
 *
 * @param perSecond inflow per second, in {@code unit}; infinite for no limit
 * @param burst the most that it holds, and holds at first
 * @param unit measure of a request's cost
 * @param perTenant whether each tenant has a bucket of its own
 */
public record RateLimit(double perSecond, double burst, Unit unit, boolean perTenant) {
    /** Cost of a request. */
    public enum Unit {
        /** One. */
        REQUESTS,
        /** Its prompt tokens, since the length of the answer is not known yet. */
        PROMPT_TOKENS
    }

    public static final RateLimit NONE = new RateLimit(Double.POSITIVE_INFINITY, 0, Unit.REQUESTS, false);

    boolean isSet() {
        return perSecond < Double.POSITIVE_INFINITY;
    }
}

package understudy.workload;

/**
 * Gaps between arrivals, in mean gaps.
 *
 * @param burstiness shape of their gamma distribution, above 0; infinite makes them equal
 * @param isScaled whether they are scaled so that the last arrival comes when the rate has it, as vLLM's benchmark does
 */
public record Gaps(double burstiness, boolean isScaled) {
    /** Those of a Poisson process. */
    public static final Gaps POISSON = new Gaps(1, false);
}

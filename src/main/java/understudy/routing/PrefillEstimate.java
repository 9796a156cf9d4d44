package understudy.routing;

/** Estimate of how long a replica without other work takes to compute a prompt. */
@FunctionalInterface
public interface PrefillEstimate {

    /**
     * Returns nanoseconds, at least 0.
     *
     * @param numTokens of the prompt, at least 1
     * @param numCachedTokens of them, less than {@code numTokens}
     */
    double nanos(int numTokens, int numCachedTokens);

    /** Returns an estimate of so much for each token that is not cached. */
    static PrefillEstimate perToken(double nanos) {
        return (numTokens, numCachedTokens) -> (numTokens - numCachedTokens) * nanos;
    }
}

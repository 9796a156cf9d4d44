package understudy.latency;

/**
 * Delay from the arrival of a request to its entry into the waiting queue: HTTP and tokenizing.
 *
 * @param nanos of every request, at least 0
 * @param nanosPerPromptToken of each token of its prompt, at least 0
 */
public record ApiDelay(long nanos, double nanosPerPromptToken) {
    public static final ApiDelay NONE = new ApiDelay(0, 0);

    /** Returns the delay of a prompt of so many tokens. */
    public long nanosOf(int numPromptTokens) {
        return nanos + Math.round(nanosPerPromptToken * numPromptTokens);
    }
}

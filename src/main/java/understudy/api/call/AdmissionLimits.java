package understudy.api.call;

/**
 * Limits of a server on what has not ended, beyond which calls are turned away (vLLM {@code --max-num-queued-reqs}, {@code
 * --max-num-queued-tokens}).
 *
 * @param maxNumQueuedReqs most requests, those that run included, or 0 for no limit
 * @param maxNumQueuedTokens prompt tokens of requests without a first token at which no more is taken, or 0 for no limit
 */
public record AdmissionLimits(int maxNumQueuedReqs, long maxNumQueuedTokens) {
    /** Returns whether there is a limit. */
    public boolean areOn() {
        return maxNumQueuedReqs > 0 || maxNumQueuedTokens > 0;
    }
}

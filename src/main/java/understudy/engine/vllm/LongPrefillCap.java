package understudy.engine.vllm;

/**
 * Cap on the tokens that one request computes in one step, so that a long prompt leaves others their part of the budget
 * (vLLM {@code long_prefill_token_threshold}).
 *
 * @param threshold most tokens, or 0 for no cap
 * @param sparesLone whether there is no cap for a request beside which no other is there, running or waiting (vLLM since
 *     pull request 57951)
 * @param isAdaptive whether the cap is at least an equal part of the budget ({@code
 *     long_prefill_token_threshold_adaptive})
 */
public record LongPrefillCap(int threshold, boolean sparesLone, boolean isAdaptive) {
    /** No cap. */
    public static final LongPrefillCap NONE = of(0);

    /** Checks the range. */
    public LongPrefillCap {
        if (threshold < 0) {
            throw new IllegalArgumentException("threshold " + threshold);
        }
    }

    /** Returns a cap that always holds, or none for 0. */
    public static LongPrefillCap of(int threshold) {
        return new LongPrefillCap(threshold, false, false);
    }

    /**
     * Returns the cap of a step, or 0 for none.
     *
     * @param numRequests requests that run or wait when it is planned
     * @param budget most tokens of the step
     */
    public int tokens(int numRequests, int budget) {
        if (threshold == 0 || (sparesLone && numRequests <= 1)) {
            return 0;
        }
        return isAdaptive ? Math.max(threshold, budget / Math.max(1, numRequests)) : threshold;
    }
}

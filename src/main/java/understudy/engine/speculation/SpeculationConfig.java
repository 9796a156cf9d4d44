package understudy.engine.speculation;

/**
 * Settings of speculative decoding that a scheduler needs (vLLM {@code SpeculativeConfig}).
 *
 * @param numSpeculativeTokens drafts per request and step, K; 0 is no speculation
 * @param numLookaheadTokens slots behind the scheduled tokens, into which the draft model writes its own KV
 * @param numDraftSlots tokens of the budget that each scheduled request takes besides its own
 * @param usesEagle whether the draft model needs the target's hidden states, so that the last block of a prefix hit is
 *     computed again ({@code use_eagle})
 */
public record SpeculationConfig(
        int numSpeculativeTokens, int numLookaheadTokens, int numDraftSlots, boolean usesEagle) {
    /** One token per request and step. */
    public static final SpeculationConfig NONE = new SpeculationConfig(0, 0, 0, false);

    /** Checks the ranges. */
    public SpeculationConfig {
        if (numSpeculativeTokens < 0 || numLookaheadTokens < 0 || numDraftSlots < 0) {
            throw new IllegalArgumentException("numSpeculativeTokens " + numSpeculativeTokens + ", numLookaheadTokens "
                    + numLookaheadTokens + ", numDraftSlots " + numDraftSlots);
        }
    }

    public boolean isOn() {
        return numSpeculativeTokens > 0;
    }

    /**
     * Returns how many tokens beyond its longest answer a request may have slots for: drafts in the step in flight and in
     * the next, each with the token behind them, and the lookahead.
     */
    public int maxTokensBeyondEnd() {
        return isOn() ? 2 * (1 + numSpeculativeTokens) + numLookaheadTokens : 0;
    }
}

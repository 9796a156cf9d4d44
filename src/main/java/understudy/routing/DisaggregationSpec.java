package understudy.routing;

/**
 * Decision whether another replica computes a prompt than the one that answers.
 *
 * @param decider which rule
 * @param minUncachedTokens {@link Decider#UNCACHED_TOKENS}: fewest tokens that the answering replica does not have
 * @param maxLocalPrefillLength {@link Decider#CONDITIONAL}: most tokens that the answering replica computes by itself
 * @param maxPrefillQueueSize {@link Decider#CONDITIONAL}: requests per prefill replica from which on nothing more is sent
 *     there
 * @param decodesLocallyOnFailure whether the answering replica computes the prompt if the other one fails; else the
 *     request fails
 * @param policy chooses among the replicas that compute prompts
 */
public record DisaggregationSpec(
        Decider decider,
        int minUncachedTokens,
        int maxLocalPrefillLength,
        int maxPrefillQueueSize,
        boolean decodesLocallyOnFailure,
        RoutingPolicyFactory policy) {

    /** Rule of the decision. */
    public enum Decider {
        /**
         * Enough of the prompt is missing (llm-d's {@code prefix-based-pd-decider}, {@code nonCachedTokens}).
         */
        UNCACHED_TOKENS,
        /**
         * Enough of the prompt is missing, and the queue for prefills is short (NVIDIA Dynamo's conditional
         * disaggregation, {@code max_local_prefill_length} and {@code max_prefill_queue_size}).
         */
        CONDITIONAL,
        ALWAYS,
        NEVER
    }

    /**
     * Returns whether another replica is to compute a prompt.
     *
     * @param numUncachedTokens those that the answering replica does not have
     * @param queueSize requests at the replicas that compute prompts, on average
     */
    public boolean isWanted(int numUncachedTokens, double queueSize) {
        return switch (decider) {
            case UNCACHED_TOKENS -> numUncachedTokens >= minUncachedTokens;
            case CONDITIONAL -> numUncachedTokens > maxLocalPrefillLength && queueSize < maxPrefillQueueSize;
            case ALWAYS -> true;
            case NEVER -> false;
        };
    }
}

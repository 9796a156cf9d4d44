package understudy.kvcache;

/** The KV cache's answer to an {@link AdmissionRequest}. */
public sealed interface Admission {

    /**
     * The request holds blocks for its cached tokens and for those of this step.
     *
     * @param numCachedTokens leading tokens whose KV was found: whole blocks, or a whole prompt
     * @param numScheduledTokens tokens to compute in this step; 0 only if the prompt's last logits were found too
     */
    record Admitted(int numCachedTokens, int numScheduledTokens) implements Admission {}

    /** Nothing was changed: there are too few free blocks, or the prompt does not fit the budget and may not be cut. */
    record Refused() implements Admission {}
}

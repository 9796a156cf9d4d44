package understudy.kvcache;

/** The KV cache's answer to an {@link AdmissionRequest}. */
public sealed interface Admission {

    /**
     * The request holds blocks for its cached tokens and for those of this step.
     *
     * @param numCachedTokens leading tokens whose KV was found: whole blocks, or all of them after a full hit
     * @param numScheduledTokens tokens to compute in this step; after a full hit the one of a decode step, or 0 if the
     *     prompt's last logits were found too and nothing is computed
     * @param events what the look into the cache has come to
     */
    record Admitted(int numCachedTokens, int numScheduledTokens, PrefixCacheEvents events) implements Admission {}

    /** Nothing was changed: there are too few free blocks, or the prompt does not fit the budget and may not be cut. */
    record Refused() implements Admission {}
}

package understudy.kvcache;

/** The KV cache's answer to an {@link AdmissionRequest}. */
public sealed interface Admission {

    /**
     * The request holds blocks for its cached tokens and for those of this step.
     *
     * @param numCachedTokens leading tokens whose KV was found, a multiple of the block size
     * @param numScheduledTokens tokens to compute in this step, at least 1
     */
    record Admitted(int numCachedTokens, int numScheduledTokens) implements Admission {}

    /** Nothing was changed: there are too few free blocks, or the prompt does not fit the budget and may not be cut. */
    record Refused() implements Admission {}
}

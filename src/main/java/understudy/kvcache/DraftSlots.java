package understudy.kvcache;

/**
 * Part of an {@link AdmissionRequest} that is about drafts.
 *
 * @param numLookaheadTokens slots behind the scheduled tokens, for the KV of a draft model
 * @param numDecodeTokens how many tokens to schedule if only the last one is not computed: drafts come with it, if they
 *     come with all others of the step; 0 if there is no room for them
 */
public record DraftSlots(int numLookaheadTokens, int numDecodeTokens) {
    /** Without speculative decoding. */
    public static final DraftSlots NONE = new DraftSlots(0, 1);
}

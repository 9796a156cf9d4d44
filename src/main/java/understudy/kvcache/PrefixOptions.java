package understudy.kvcache;

/**
 * How prefixes are kept and found again.
 *
 * @param fullHit what becomes of a prompt that is cached whole
 * @param cachesGeneratedBlocks whether blocks that end in the answer are cached too, when prefixes are found by content;
 *     vLLM does so, NanoGPT does not
 * @param sessions whether prefixes are found by session instead of by content
 * @param globalPrefixes with sessions: what other requests may share
 */
public record PrefixOptions(
        FullHit fullHit, boolean cachesGeneratedBlocks, SessionMode sessions, GlobalPrefixLimits globalPrefixes) {
    /** As vLLM V1 does it. */
    public static final PrefixOptions VLLM = ofContent(FullHit.RECOMPUTE_LAST_TOKEN, true);

    /** Returns options for finding prefixes by content. */
    public static PrefixOptions ofContent(FullHit fullHit, boolean cachesGeneratedBlocks) {
        return new PrefixOptions(fullHit, cachesGeneratedBlocks, SessionMode.OFF, GlobalPrefixLimits.OFF);
    }
}

package understudy.kvcache;

/**
 * How prefixes are kept and found again.
 *
 * @param fullHit what becomes of a prompt that is cached whole
 * @param cachesGeneratedBlocks whether blocks that end in the answer are cached too; vLLM does, NanoGPT does not
 */
public record PrefixOptions(FullHit fullHit, boolean cachesGeneratedBlocks) {
    /** As vLLM V1 does it. */
    public static final PrefixOptions VLLM = new PrefixOptions(FullHit.RECOMPUTE_LAST_TOKEN, true);
}

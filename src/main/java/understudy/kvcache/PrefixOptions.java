package understudy.kvcache;

/**
 * Options for keeping and finding prefixes.
 *
 * @param fullHit treatment of a prompt that is cached whole
 * @param cachesGeneratedBlocks whether blocks that end in the answer are cached too, when prefixes are found by
 *     content; vLLM does so, NanoGPT does not
 * @param sessions whether prefixes are found by session instead of by content
 * @param globalPrefixes with sessions: limits of the prefixes that other requests may share
 * @param dropsLastHit whether the last block of a hit by content is computed again, for a draft model that needs its
 *     hidden states (vLLM {@code use_eagle})
 */
public record PrefixOptions(
        FullHit fullHit,
        boolean cachesGeneratedBlocks,
        SessionMode sessions,
        GlobalPrefixLimits globalPrefixes,
        boolean dropsLastHit) {
    /** Lookup of prefixes by session instead of by content, and the accounting of their blocks then. */
    public enum SessionMode {
        /** By content, as in vLLM. */
        OFF,
        /**
         * By session; blocks are only counted, and those of a shared prefix belong to the request that brought it in.
         */
        SIMPLIFIED,
        /** By session; each block has an id and a reference count. */
        DETAILED
    }

    /** Treatment of a request whose whole prompt is cached. */
    public enum FullHit {
        /** vLLM: the last token is computed again, since its logits are needed; hits stop short of its block. */
        RECOMPUTE_LAST_TOKEN,
        /** Session cache: no prefill; the first token comes out of the first decode step. */
        DECODE_DIRECTLY
    }

    /** Creates options for an engine without a draft model. */
    public PrefixOptions(
            FullHit fullHit, boolean cachesGeneratedBlocks, SessionMode sessions, GlobalPrefixLimits globalPrefixes) {
        this(fullHit, cachesGeneratedBlocks, sessions, globalPrefixes, false);
    }

    /** As vLLM V1 does it. */
    public static final PrefixOptions VLLM = ofContent(FullHit.RECOMPUTE_LAST_TOKEN, true);

    /** Returns options for finding prefixes by content. */
    public static PrefixOptions ofContent(FullHit fullHit, boolean cachesGeneratedBlocks) {
        return new PrefixOptions(fullHit, cachesGeneratedBlocks, SessionMode.OFF, GlobalPrefixLimits.OFF);
    }

    /** Returns the same options for an engine whose draft model needs hidden states, or does not. */
    public PrefixOptions withDropsLastHit(boolean drops) {
        return new PrefixOptions(fullHit, cachesGeneratedBlocks, sessions, globalPrefixes, drops);
    }
}

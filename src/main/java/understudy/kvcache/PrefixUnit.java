package understudy.kvcache;

/** What is found again as a whole, or not at all. */
public enum PrefixUnit {
    /** Every full block of a sequence, behind equal blocks (vLLM, SGLang). */
    BLOCK {
        @Override
        public KvMemory createMemory(KvCacheConfig config) {
            return new KvCacheManager(config);
        }
    },
    /** A whole prompt together with its last logits (roseinfer's {@code PrefixCache}). */
    PROMPT {
        @Override
        public KvMemory createMemory(KvCacheConfig config) {
            return new PromptKvCache(config);
        }
    };

    /** Creates an empty memory. */
    public abstract KvMemory createMemory(KvCacheConfig config);
}

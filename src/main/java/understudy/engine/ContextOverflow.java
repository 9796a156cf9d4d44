package understudy.engine;

/** What becomes of a request that is longer than the context window, or than the KV cache. */
public enum ContextOverflow {
    /** It is turned away, as vLLM does. */
    REJECT,
    /** Its prompt loses its oldest tokens: a sliding window over the conversation. */
    TRUNCATE_OLDEST
}

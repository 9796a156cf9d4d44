package understudy.kvcache;

/** Treatment of a request whose whole prompt is cached. */
public enum FullHit {
    /** vLLM: the last token is computed again, since its logits are needed; hits stop short of its block. */
    RECOMPUTE_LAST_TOKEN,
    /** Session cache: no prefill; the first token comes out of the first decode step. */
    DECODE_DIRECTLY
}

package understudy.kvcache;

/** Results of the prefix-cache lookup at a request's first admission, in the order in which they are found. */
public enum PrefixCacheEvent {
    /** A follow-up turn does not continue the cached tokens of its session. */
    CONVERSATIONAL_MISS_UNEXPECTED_PROMPT(1),
    /** A follow-up turn found some of its conversation: by content, a block that no other conversation has used. */
    CONVERSATIONAL_HIT(2),
    /** A request found a prefix that other requests have left, such as a system prompt. */
    CROSS_REQUEST_HIT(4),
    /** Nothing was found. */
    MISS_FULL(8),
    /** The whole prompt was found, so that the request goes straight to decode. */
    FULL_HIT_NO_PREFILL_NEEDED(16);

    private final int bit;

    PrefixCacheEvent(int bit) {
        this.bit = bit;
    }

    int bit() {
        return bit;
    }
}

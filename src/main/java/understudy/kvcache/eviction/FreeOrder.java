package understudy.kvcache.eviction;

/** Place of released blocks in the free queue of the {@code lru} policy. */
public enum FreeOrder {
    /** vLLM since 2026-06-16 (#42656): blocks without a hash to the front, the others to the back. */
    UNHASHED_FIRST,
    /** vLLM before that: all to the back. */
    ALL_LAST
}

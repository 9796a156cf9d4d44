package understudy.kvcache.session;

/** Lookup of prefixes by session instead of by content, and the accounting of their blocks then. */
public enum SessionMode {
    /** By content, as in vLLM. */
    OFF,
    /** By session; blocks are only counted, and those of a shared prefix belong to the request that brought it in. */
    SIMPLIFIED,
    /** By session; each block has an id and a reference count. */
    DETAILED
}

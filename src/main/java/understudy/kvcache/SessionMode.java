package understudy.kvcache;

/** Whether prefixes are found by session instead of by content, and how their blocks are counted then. */
public enum SessionMode {
    /** By content, as in vLLM. */
    OFF,
    /** By session; blocks are only counted, and those of a shared prefix belong to whoever brought it in. */
    SIMPLIFIED,
    /** By session; each block has an id and a reference count. */
    DETAILED
}

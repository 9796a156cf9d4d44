package understudy.faults;

/** Life-cycle state of a replica. */
public enum ReplicaState {
    /** It takes no requests yet. */
    STARTING,
    /** It takes requests. */
    READY,
    /** It takes no more requests, and finishes those that it has. */
    DRAINING,
    /** It keeps new requests waiting (vLLM's sleep level 0). */
    PAUSED,
    /** It keeps new requests waiting, and has no KV cache; its weights are in host memory (sleep level 1). */
    WEIGHTS_OFFLOADED,
    /** It keeps new requests waiting, and has neither KV cache nor weights (sleep level 2). */
    DISCARD_ALL,
    /** It has crashed. */
    DOWN,
    /** It has left for good, or leaves as soon as its requests are finished. */
    REMOVED;

    /** Returns whether its process runs and serves: it answers, whether it takes new requests or not. */
    public boolean isUp() {
        return this == READY || this == DRAINING || isAsleep();
    }

    /** Returns whether it serves nothing before it is woken up. */
    public boolean isAsleep() {
        return this == PAUSED || this == WEIGHTS_OFFLOADED || this == DISCARD_ALL;
    }
}

package understudy.faults;

/** Life-cycle state of a replica. */
public enum ReplicaState {
    /** It takes no requests yet. */
    STARTING,
    /** It takes requests. */
    READY,
    /** It takes no more requests, and finishes those that it has. */
    DRAINING,
    /** It has crashed. */
    DOWN,
    /** It has left for good, or leaves as soon as its requests are finished. */
    REMOVED;

    /** Returns whether its process runs and serves: it answers, whether it takes new requests or not. */
    public boolean isUp() {
        return this == READY || this == DRAINING;
    }
}

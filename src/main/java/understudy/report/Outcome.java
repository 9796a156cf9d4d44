package understudy.report;

/** Outcome of a request. */
public enum Outcome {
    /** It was answered, by a stop token or up to its limit. */
    COMPLETED,
    /**
     * Its replica was only to compute the prompt, and has done so or not; the outcome of the request is recorded
     * elsewhere.
     */
    PREFILL_LEG,
    /** It was turned away, because it can never fit. */
    REJECTED,
    /** It was accepted, but its answer ended early by a failure. */
    FAILED,
    /** Its sender gave it up. */
    ABORTED,
    /** It was turned away, because too many came. */
    RATE_LIMITED,
    /** It was turned away, because the cluster was saturated and no more could wait. */
    QUEUE_FULL,
    /** It was turned away, because it had waited too long. */
    QUEUE_TIMEOUT,
    /** It was turned away, because its first token would have come too late. */
    TTFT_LIMIT;

    /** Returns whether a request with this outcome was turned away. */
    public boolean isRejection() {
        return this == REJECTED || isLoadShed();
    }

    /** Returns whether a request with this outcome was turned away because of the load. */
    public boolean isLoadShed() {
        return this == RATE_LIMITED || this == QUEUE_FULL || this == QUEUE_TIMEOUT || this == TTFT_LIMIT;
    }
}

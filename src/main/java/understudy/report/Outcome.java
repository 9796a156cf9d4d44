package understudy.report;

/** Outcome of a request. */
public enum Outcome {
    /** It was answered, by a stop token or up to its limit. */
    COMPLETED,
    /** It was turned away, because it can never fit. */
    REJECTED,
    /** It was accepted, but its answer ended early by a failure. */
    FAILED,
    /** Its sender gave it up. */
    ABORTED
}

package understudy.engine;

/** Reason for the end of a request, under the names of vLLM's {@code finish_reason}. */
public enum FinishReason {
    /** The model sampled its end-of-sequence token. */
    STOP,
    /** The limit of tokens was reached, the request's own or the model's. */
    LENGTH,
    /** Its sender gave it up. */
    ABORT
}

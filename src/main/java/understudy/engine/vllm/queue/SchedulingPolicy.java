package understudy.engine.vllm.queue;

/** Admission order of waiting requests. */
public enum SchedulingPolicy {
    /** First come, first served (vLLM). */
    FCFS,
    /** By (priority, arrival, request id), smallest first (vLLM). */
    PRIORITY,
    /** Shortest prompt first, then by arrival. */
    SJF,
    /** The request with the longest cached prefix first (SGLang). */
    LPM;

    <R extends QueuedRequest> RequestQueue<R> createQueue() {
        return switch (this) {
            case FCFS -> new FcfsQueue<>();
            case PRIORITY -> new OrderedQueue<>(OrderedQueue.BY_PRIORITY);
            case SJF -> new OrderedQueue<>(OrderedQueue.BY_PROMPT_LENGTH);
            case LPM -> new LongestPrefixQueue<>();
        };
    }
}

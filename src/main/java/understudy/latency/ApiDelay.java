package understudy.latency;

/**
 * Delay from the arrival of a request to its entry into the waiting queue: HTTP and tokenizing.
 *
 * <p>An API server of vLLM tokenizes in one thread ({@code AsyncMicrobatchTokenizer} in {@code vllm/utils/async_utils.py}),
 * so prompts that arrive together do so one after the other.
 *
 * @param nanos of every request, at least 0
 * @param nanosPerPromptToken of each token of its prompt, at least 0
 */
public record ApiDelay(long nanos, double nanosPerPromptToken) {
    public static final ApiDelay NONE = new ApiDelay(0, 0);

    /** Returns the delay of a prompt of so many tokens that does not queue behind others, in nanoseconds. */
    public long nanosOf(int numPromptTokens) {
        return nanos + Math.round(nanosPerPromptToken * numPromptTokens);
    }

    /** Requests of one API server. */
    public static final class Queue {
        private final ApiDelay delay;

        /** When everything that has arrived is tokenized. */
        private long tokenizedNanos;

        /** Creates an API server that has nothing to do. */
        public Queue(ApiDelay delay) {
            this.delay = delay;
        }

        /** Accepts a request, and returns when it enters the waiting queue. */
        public long add(long arrivalNanos, int numPromptTokens) {
            if (delay.nanosPerPromptToken == 0) {
                return arrivalNanos + delay.nanos;
            }
            long enterNanos = Math.max(tokenizedNanos, arrivalNanos) + delay.nanosOf(numPromptTokens);
            tokenizedNanos = enterNanos - delay.nanos;
            return enterNanos;
        }
    }
}

package understudy.latency;

/**
 * Delay from the arrival of a request to its entry into the waiting queue: HTTP and tokenizing.
 *
 * <p>An API server of vLLM tokenizes in one thread ({@code AsyncMicrobatchTokenizer} in {@code vllm/utils/async_utils.py}),
 * and what has come meanwhile, up to 32 prompts, together. The tokenizer shares a batch among cores: of an H100 server 16
 * prompts of 10,000 tokens took 31.6 ms, and one 10.7 ms (vLLM's issue 19012), so that a prompt behind the longest one adds
 * 0.13 of its own time. SGLang's tokenizer manager takes one prompt after the other, unless it is started with {@code
 * --enable-dynamic-batch-tokenizer}, which is not modelled.
 *
 * @param nanos of every request, at least 0
 * @param nanosPerPromptToken of each token of its prompt, at least 0
 * @param maxBatchSize prompts that are tokenized together at most, at least 1
 */
public record ApiDelay(long nanos, double nanosPerPromptToken, int maxBatchSize) {
    public static final ApiDelay NONE = new ApiDelay(0, 0);

    private static final int VLLM_BATCH_SIZE = 32;

    /** Creates that of an API server of vLLM. */
    public ApiDelay(long nanos, double nanosPerPromptToken) {
        this(nanos, nanosPerPromptToken, VLLM_BATCH_SIZE);
    }

    /** Returns the same for a server that tokenizes one prompt after the other. */
    public ApiDelay oneByOne() {
        return new ApiDelay(nanos, nanosPerPromptToken, 1);
    }

    /** Returns the delay of a prompt of so many tokens that does not queue behind others, in nanoseconds. */
    public long nanosOf(int numPromptTokens) {
        return nanos + Math.round(nanosPerPromptToken * numPromptTokens);
    }

    /** Requests of one API server. */
    public static final class Queue {
        private static final long BATCH_WAIT_NANOS = 2_000_000;
        private static final double SHARE_OF_FURTHER_PROMPT = (31.6 - 10.7) / 15 / 10.7;

        private final ApiDelay delay;

        /** Batch that was begun last, or waits for the one before it. */
        private long batchStartNanos = Long.MIN_VALUE;

        private long batchEndNanos = Long.MIN_VALUE;
        private int batchSize;
        private double longestNanos;
        private double sumNanos;

        /** Creates an API server that has nothing to do. */
        public Queue(ApiDelay delay) {
            this.delay = delay;
            batchSize = delay.maxBatchSize;
        }

        /**
         * Accepts a request, and returns when it enters the waiting queue: as soon as those of its batch are tokenized that have
         * come so far.
         */
        public long add(long arrivalNanos, int numPromptTokens) {
            if (delay.nanosPerPromptToken == 0) {
                return arrivalNanos + delay.nanos;
            }
            if (batchSize == delay.maxBatchSize || arrivalNanos > batchStartNanos + BATCH_WAIT_NANOS) {
                batchStartNanos = Math.max(arrivalNanos, batchEndNanos);
                batchSize = 0;
                longestNanos = 0;
                sumNanos = 0;
            }
            double nanos = delay.nanosPerPromptToken * numPromptTokens;
            batchSize++;
            longestNanos = Math.max(longestNanos, nanos);
            sumNanos += nanos;
            // A batch that waits for others begins when the last of them is there.
            long beginNanos = Math.max(batchStartNanos, arrivalNanos);
            batchEndNanos = beginNanos + Math.round(longestNanos + SHARE_OF_FURTHER_PROMPT * (sumNanos - longestNanos));
            return batchEndNanos + delay.nanos;
        }
    }
}

package understudy.engine;

/** What vLLM's defaults are chosen for ({@code --performance-mode}). */
public enum PerformanceMode {
    /** What they are without a mode. */
    BALANCED,
    /** Short steps: a CUDA graph of every size up to 32 tokens. */
    INTERACTIVITY,
    /** Large batches: twice the requests and the tokens of a step. */
    THROUGHPUT;

    static final String KEY = "performance-mode";

    /** Returns how many times the usual size a batch has. */
    int batchFactor() {
        return this == THROUGHPUT ? 2 : 1;
    }
}

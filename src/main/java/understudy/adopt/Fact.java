package understudy.adopt;

/** What sources tell besides flags. */
enum Fact {
    VERSION("version", true),
    /** The words that started the server, as a shell has them. */
    COMMAND("command", false),
    /** All tokens that the engine says its KV cache holds. */
    KV_TOKENS("KV cache in tokens", true),
    /** Tokens of the first pool that SGLang has allocated, which counts if nothing tells of all. */
    POOL_TOKENS("tokens of a pool", false),
    /** Tokens of HiCache's memory on the host. */
    HOST_TOKENS("host memory in tokens", true),
    /** vLLM's {@code num_gpu_blocks}, the null block included. */
    KV_BLOCKS("KV cache in blocks", true),
    BLOCK_SIZE("tokens per block", true),
    /** vLLM's quotient of the KV cache and the longest request, which tells how it has counted. */
    MAX_CONCURRENCY("maximum concurrency", false),
    /** First name under which the model is served. */
    SERVED_NAME("served model name", true),
    /** Engines behind one page of metrics: the ranks of data parallelism. */
    NUM_ENGINES("engines", true),
    /** SGLang: of one rank, where flags are of all ranks. */
    RANK_MAX_RUNNING("max_running_requests of a rank", true),
    RANK_CHUNK("chunked_prefill_size of a rank", true),
    GPU("GPU", true),
    /** GPU memory that is free before weights are loaded. */
    FREE_GIB("free GPU memory in GiB", false),
    WEIGHTS_GIB("weights on a GPU in GiB", false),
    KV_GIB("KV cache on a GPU in GiB", false),
    /** Model and number of GPUs of a replica that another emulation is timed as. */
    TIMED_AS("model of the timing", true),
    NUM_GPUS("GPUs of a replica", true),
    ATTENTION_BACKEND("attention backend", false),
    GRAPH_SIZES("batch sizes with CUDA graphs", false),
    /** Mean tokens of a verification of drafts, as a server has counted them. */
    ACCEPT_LENGTH("mean tokens of a verification", false);

    private final String title;
    private final boolean isExact;

    Fact(String title, boolean isExact) {
        this.title = title;
        this.isExact = isExact;
    }

    String title() {
        return title;
    }

    /** Returns whether sources of one server must agree on it. */
    boolean isExact() {
        return isExact;
    }
}

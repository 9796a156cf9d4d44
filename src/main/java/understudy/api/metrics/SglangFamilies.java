package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import understudy.cluster.ReplicaSpec;
import understudy.routing.Role;

/**
 * Families of SGLang ({@code sglang/srt/observability/metrics_collector.py}, July 2026): those of its schedulers, and those
 * of the process before them, which counts requests when they have ended.
 *
 * <p>A replica is a rank of data parallelism here, so all series have the label {@code dp_rank}. SGLang's process before
 * the schedulers has no rank; without the label the replicas behind one port could not be told apart.
 */
final class SglangFamilies implements ServerFamilies {
    private static final double[] TTFT_SECONDS = {.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400};
    private static final double[] REQUEST_SECONDS = {
        .1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800, 2400
    };
    private static final double[] TOKEN_SECONDS = {
        .002, .004, .006, .008, .01, .015, .02, .025, .03, .035, .04, .06, .08, .1, .2, .4, .6, .8, 1, 2, 4, 6, 8
    };
    private static final double[] QUEUE_SECONDS = {
        0, .001, .005, .01, .05, .1, .2, .5, 1, 2, 3, 4, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300, 400,
        500, 600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800, 2000, 2500, 3000
    };
    private static final double[] TOKEN_COUNTS = {
        100, 300, 500, 700, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 12500, 15000, 17500,
        20000, 22500, 25000, 27500, 30000, 35000, 40000, 60000, 80000, 100000, 200000, 300000, 400000, 600000, 800000,
        1000000, 1100000
    };
    /** As {@code exponential_buckets(start=0.001, width=1.62, length=30)}. */
    private static final double[] STAGE_SECONDS =
            IntStream.range(0, 30).mapToDouble(i -> 0.001 * Math.pow(1.62, i)).toArray();

    private static final double[] TRANSFER_GB_PER_SECOND = {.1, .5, 1, 5, 10, 25, 50, 100, 200, 400};
    private static final double[] TRANSFER_MILLIS = {1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000};
    private static final double[] BOOTSTRAP_MILLIS = {1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500};
    private static final double[] TRANSFER_MB = {1, 5, 10, 50, 100, 500, 1000, 5000, 10000};
    private static final String[] STAGE = {"stage"};
    private static final String[] STREAMING = {"is_streaming"};

    final Gauge running;
    final Gauge queued;
    final Gauge tokenUsage;
    final Gauge fullTokenUsage;
    final Gauge numUsedTokens;
    final Gauge kvUsedTokens;
    final Gauge kvAvailableTokens;
    final Gauge kvEvictableTokens;
    final Gauge cacheHitRate;
    final Gauge genThroughput;
    final Gauge newTokenRatio;
    final Gauge retracted;
    final Gauge specAcceptLength;
    final Gauge specAcceptRate;
    final Counter retractedTotal;
    final Histogram queueSeconds;
    final Histogram ttftSeconds;
    final Histogram tokenSeconds;
    final Histogram requestSeconds;
    final Histogram promptTokens;
    final Histogram uncachedPromptTokens;
    final Histogram generationTokens;
    final Counter promptTokensTotal;
    final Counter generationTokensTotal;
    final Counter cachedTokensTotal;
    final Counter requestsTotal;
    final Counter abortedTotal;
    final Histogram stageSeconds;
    final Histogram transferGbPerSecond;
    final Histogram transferMillis;
    final Histogram bootstrapMillis;
    final Histogram allocMillis;
    final Histogram transferMb;
    final Counter bootstrapFailed;
    final Counter transferFailed;
    final Counter evictedTokens;
    final Counter loadBackTokens;
    final Counter prefetchedTokens;
    final Counter backedUpTokens;
    final Gauge hostUsedTokens;
    final Gauge hostTotalTokens;
    final Gauge loraSlotsUsed;
    final Gauge loraSlotsTotal;
    final Gauge loraUtilization;

    /** Gauges of the queues that only engines with a role have, by the names of the queues. */
    final Map<String, Gauge> roleQueues = new LinkedHashMap<>();

    private final String model;
    private final LabelledFamilies scheduler;
    private final LabelledFamilies frontEnd;
    private final Gauge maxTotalNumTokens;
    private final Gauge pageSize;
    private final Gauge numPages;
    private final Gauge contextLen;
    private final Gauge utilization;
    private final Gauge specNumSteps;
    private final Gauge grammarQueue;
    private final LabelledFamilies memory;
    private final LabelledFamilies storage;

    SglangFamilies(PrometheusRegistry registry, String model) {
        this.model = model;
        scheduler = new LabelledFamilies(
                registry, "sglang:", "dp_rank", "model_name", "engine_type", "tp_rank", "pp_rank", "moe_ep_rank");
        running = scheduler.gauge("num_running_reqs", "The number of running requests.");
        queued = scheduler.gauge("num_queue_reqs", "The number of requests in the waiting queue.");
        tokenUsage = scheduler.gauge("token_usage", "The token usage.");
        fullTokenUsage = scheduler.gauge("full_token_usage", "The token usage for full attention layers.");
        numUsedTokens = scheduler.gauge("num_used_tokens", "The number of used tokens.");
        kvUsedTokens = scheduler.gauge("kv_used_tokens", "Number of token slots that requests hold.");
        kvAvailableTokens = scheduler.gauge("kv_available_tokens", "Number of free token slots in the KV cache pool.");
        kvEvictableTokens = scheduler.gauge("kv_evictable_tokens", "Number of token slots that are only cached.");
        cacheHitRate = scheduler.gauge("cache_hit_rate", "The prefix cache hit rate.");
        genThroughput = scheduler.gauge("gen_throughput", "The generation throughput (token/s).");
        newTokenRatio = scheduler.gauge("new_token_ratio", "The new token ratio.");
        retracted = scheduler.gauge("num_retracted_reqs", "The number of retracted requests.");
        retractedTotal = scheduler.counter("num_retracted_requests", "Total number of retracted requests.");
        specAcceptLength = scheduler.gauge("spec_accept_length", "Mean number of tokens of a verification.");
        specAcceptRate = scheduler.gauge("spec_accept_rate", "Share of drafts that were accepted.");
        specNumSteps = scheduler.gauge("spec_num_steps", "Currently active speculative_num_steps.");
        maxTotalNumTokens = scheduler.gauge("max_total_num_tokens", "Number of tokens in the KV cache pool.");
        pageSize = scheduler.gauge("page_size", "KV cache page size in tokens.");
        numPages = scheduler.gauge("num_pages", "Number of KV cache pages.");
        contextLen = scheduler.gauge("context_len", "Maximum context length.");
        utilization = scheduler.gauge("utilization", "The utilization.");
        grammarQueue = queue("grammar_queue");
        for (String queue : List.of(
                "prefill_bootstrap_queue",
                "prefill_inflight_queue",
                "decode_prealloc_queue",
                "decode_transfer_queue")) {
            roleQueues.put(queue, queue(queue));
        }
        transferGbPerSecond = scheduler.histogram(
                "kv_transfer_speed_gb_s", "Histogram of KV cache transfer speed in GB/s.", TRANSFER_GB_PER_SECOND);
        transferMillis = scheduler.histogram(
                "kv_transfer_latency_ms", "Histogram of KV cache transfer latency in ms.", TRANSFER_MILLIS);
        bootstrapMillis = scheduler.histogram(
                "kv_transfer_bootstrap_ms", "Histogram of KV transfer bootstrap time in ms.", BOOTSTRAP_MILLIS);
        allocMillis = scheduler.histogram(
                "kv_transfer_alloc_ms", "Histogram of KV transfer allocation waiting time in ms.", BOOTSTRAP_MILLIS);
        transferMb =
                scheduler.histogram("kv_transfer_total_mb", "Histogram of KV cache transfer size in MB.", TRANSFER_MB);
        bootstrapFailed = scheduler.counter("num_bootstrap_failed_reqs", "The number of bootstrap failed requests.");
        transferFailed = scheduler.counter("num_transfer_failed_reqs", "The number of transfer failed requests.");
        loraSlotsUsed = scheduler.gauge("lora_pool_slots_used", "Number of LoRA adapter slots in use.");
        loraSlotsTotal = scheduler.gauge("lora_pool_slots_total", "Number of LoRA adapter slots.");
        loraUtilization = scheduler.gauge("lora_pool_utilization", "LoRA pool utilization ratio (used/total).");
        hostUsedTokens = scheduler.gauge("hicache_host_used_tokens", "Number of tokens in the host KV cache.");
        hostTotalTokens = scheduler.gauge("hicache_host_total_tokens", "Capacity of the host KV cache in tokens.");
        stageSeconds = scheduler.histogram(
                "per_stage_req_latency_seconds", "The latency of each stage of requests.", STAGE, STAGE_SECONDS);
        memory = new LabelledFamilies(registry, "sglang:", "dp_rank", "cache_type");
        evictedTokens = memory.counter("evicted_tokens", "The number of tokens evicted from GPU to CPU.");
        loadBackTokens = memory.counter("load_back_tokens", "The number of tokens loaded from CPU to GPU.");
        storage = new LabelledFamilies(registry, "sglang:", "dp_rank", "tp_rank", "pp_rank");
        prefetchedTokens = storage.counter("prefetched_tokens", "Number of prefetched prompt tokens.");
        backedUpTokens = storage.counter("backuped_tokens", "Number of backuped tokens.");
        queueSeconds =
                scheduler.histogram("queue_time_seconds", "Histogram of queueing time in seconds.", QUEUE_SECONDS);

        frontEnd = new LabelledFamilies(registry, "sglang:", "dp_rank", "model_name", "engine_type");
        ttftSeconds = frontEnd.histogram(
                "time_to_first_token_seconds", "Histogram of time to first token in seconds.", STREAMING, TTFT_SECONDS);
        requestSeconds = frontEnd.histogram(
                "e2e_request_latency_seconds",
                "Histogram of End-to-end request latency in seconds",
                STREAMING,
                REQUEST_SECONDS);
        tokenSeconds = frontEnd.histogram(
                "inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", TOKEN_SECONDS);
        promptTokens = frontEnd.histogram("prompt_tokens_histogram", "Histogram of prompt token length.", TOKEN_COUNTS);
        uncachedPromptTokens = frontEnd.histogram(
                "uncached_prompt_tokens_histogram",
                "Histogram of uncached (compute) prompt token length.",
                TOKEN_COUNTS);
        generationTokens = frontEnd.histogram(
                "generation_tokens_histogram", "Histogram of generation token length.", TOKEN_COUNTS);
        promptTokensTotal = frontEnd.counter("prompt_tokens", "Number of prefill tokens processed.", STREAMING);
        generationTokensTotal =
                frontEnd.counter("generation_tokens", "Number of generation tokens processed.", STREAMING);
        cachedTokensTotal = frontEnd.counter("cached_tokens", "Number of cached prompt tokens.", "cache_source");
        requestsTotal = frontEnd.counter("num_requests", "Number of requests processed.", STREAMING);
        abortedTotal = frontEnd.counter("num_aborted_requests", "Number of requests aborted.");
    }

    @Override
    public ReplicaSeries show(int index, ReplicaSpec replica) {
        var role = replica.traits().role();
        String[] front = {String.valueOf(index), model, engineType(role)};
        String[] ranks = {front[0], front[1], front[2], "0", "0", "0"};
        var pool = replica.kvCache();
        int pages = pool.numGpuBlocks() - 1;
        maxTotalNumTokens.labelValues(ranks).set((double) pages * pool.blockSize());
        pageSize.labelValues(ranks).set(pool.blockSize());
        numPages.labelValues(ranks).set(pages);
        contextLen.labelValues(ranks).set(pool.maxModelLen());
        // Without a limit by service levels, which SGLang does not set by itself, its schedulers leave it at 0.
        utilization.labelValues(ranks).set(role == Role.PREFILL ? -1 : 0);
        int numDrafts = replica.engineTraits().numSpeculativeTokens();
        specNumSteps.labelValues(ranks).set(numDrafts);
        grammarQueue.labelValues(ranks).set(0);
        roleQueues.values().forEach(queue -> queue.labelValues(ranks).set(0));
        return new SglangSeries(this, ranks, front, pool.blockSize(), numDrafts > 0, role);
    }

    private Gauge queue(String name) {
        return scheduler.gauge(
                "num_" + name + "_reqs", "The number of requests in the " + name.replace('_', ' ') + ".");
    }

    /** As {@code DisaggregationMode.to_engine_type}. */
    private static String engineType(Role role) {
        return switch (role) {
            case BOTH -> "unified";
            case PREFILL -> "prefill";
            case DECODE -> "decode";
        };
    }

    @Override
    public void forget(int index) {
        scheduler.forget(String.valueOf(index));
        frontEnd.forget(String.valueOf(index));
        memory.forget(String.valueOf(index));
        storage.forget(String.valueOf(index));
    }
}

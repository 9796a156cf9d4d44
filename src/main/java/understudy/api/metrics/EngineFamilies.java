package understudy.api.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiSettings;
import understudy.cluster.ReplicaSpec;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits.Feature;
import understudy.faults.ReplicaState;

/** Families of vLLM ({@code vllm/v1/metrics/loggers.py}). */
final class EngineFamilies implements ServerFamilies {
    private static final List<String> FINISHED_REASONS = List.of("stop", "length", "abort", "error", "repetition");
    final Gauge running;
    final Gauge waiting;
    final Gauge waitingByReason;
    final Gauge kvUsage;
    final Counter prefixQueries;
    final Counter prefixHits;
    final Counter preemptions;
    final Counter promptTokens;
    final Counter promptTokensBySource;
    final Counter promptTokensCached;
    final Counter promptTokensCachedBySource;
    final Counter generationTokens;
    final TransferMetrics transfers;
    final @Nullable DraftMetrics drafts;
    final @Nullable LoraMetrics loras;
    private final Counter success;
    private final Gauge sleepState;
    private final Info cacheConfig;
    private final List<Counter> alwaysZero;
    private final Map<String, Histogram> histograms = new LinkedHashMap<>();
    private final Map<Integer, String[]> cacheConfigs = new HashMap<>();
    private final MetricFamilies make;
    private final ApiSettings settings;

    /**
     * Registers the families.
     *
     * @param replicas those whose features decide what there is
     */
    EngineFamilies(PrometheusRegistry registry, ApiSettings settings, List<ReplicaSpec> replicas) {
        this.settings = settings;
        make = new MetricFamilies(registry, settings.model().maxModelLen());
        running = make.gauge("num_requests_running", "Number of requests in model execution batches.");
        waiting = make.gauge("num_requests_waiting", "Number of requests waiting to be processed.");
        waitingByReason = make.gauge(
                "num_requests_waiting_by_reason",
                "Number of waiting requests by reason: scheduling capacity, or deferred by transient constraints.",
                "reason");
        sleepState = make.gauge("engine_sleep_state", "Engine sleep state; awake = 1 means awake.", "sleep_state");
        kvUsage = make.gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.");
        prefixQueries = make.counter("prefix_cache_queries", "Prefix cache queries, in queried tokens.");
        prefixHits = make.counter("prefix_cache_hits", "Prefix cache hits, in cached tokens.");
        preemptions = make.counter("num_preemptions", "Cumulative number of preemption from the engine.");
        promptTokens = make.counter("prompt_tokens", "Number of prefill tokens processed.");
        promptTokensBySource = make.counter("prompt_tokens_by_source", "Number of prompt tokens by source.", "source");
        promptTokensCached = make.counter("prompt_tokens_cached", "Number of cached prompt tokens (local + external).");
        promptTokensCachedBySource = make.counter(
                "prompt_tokens_cached_by_source",
                "Number of cached prompt tokens, by the tier of the cache.",
                "source");
        generationTokens = make.counter("generation_tokens", "Number of generation tokens processed.");
        success = make.counter("request_success", "Count of successfully processed requests.", "finished_reason");
        transfers = new TransferMetrics(make, replicas);
        boolean haveDrafts = replicas.stream().anyMatch(EngineFamilies::hasDrafts);
        drafts = haveDrafts ? new DraftMetrics(make) : null;
        loras = replicas.stream().anyMatch(EngineFamilies::hasLoras) ? new LoraMetrics(registry) : null;
        alwaysZero = alwaysZero(make);
        addHistograms(make);
        cacheConfig = Info.builder()
                .name("vllm:cache_config")
                .help("Information of the LLMEngine CacheConfig")
                .labelNames(CacheConfigLabels.NAMES)
                .register(registry);
    }

    private static boolean hasDrafts(ReplicaSpec replica) {
        return replica.engineTraits().numSpeculativeTokens() > 0;
    }

    private static boolean hasLoras(ReplicaSpec replica) {
        return replica.engineTraits().has(Feature.ADAPTERS);
    }

    @Override
    public ReplicaSeries show(int index, ReplicaSpec replica) {
        cacheConfig(index, replica.engine(), settings.model().hashAlgorithm());
        String engine = String.valueOf(index);
        String model = settings.servedModel();
        return new ReplicaMetrics(
                this, index, model, transfers.new Series(engine, model, replica), drafts(engine, model, replica));
    }

    /** Shows the series of a replica that speculates; null of one that does not. */
    private DraftMetrics.@Nullable Series drafts(String engine, String model, ReplicaSpec replica) {
        return drafts == null || !hasDrafts(replica)
                ? null
                : drafts.new Series(engine, model, replica.engineTraits().numSpeculativeTokens());
    }

    private static List<Counter> alwaysZero(MetricFamilies make) {
        return List.of(
                make.counter("mm_cache_queries", "Multi-modal cache queries, in queried items."),
                make.counter("mm_cache_hits", "Multi-modal cache hits, in cached items."),
                make.counter("estimated_flops_per_gpu", "Estimated number of floating point operations per GPU."),
                make.counter("estimated_read_bytes_per_gpu", "Estimated number of bytes read from memory per GPU."),
                make.counter("estimated_write_bytes_per_gpu", "Estimated number of bytes written to memory per GPU."));
    }

    private void addHistograms(MetricFamilies make) {
        for (var each : List.of(
                make.numTokens("request_prompt_tokens", "Number of prefill tokens processed."),
                make.numTokens("request_generation_tokens", "Number of generation tokens processed."),
                make.iterationTokens("iteration_tokens_total", "Histogram of number of tokens per engine_step."),
                make.numTokens(
                        "request_max_num_generation_tokens",
                        "Histogram of maximum number of requested generation tokens."),
                make.histogram("request_params_n", "Histogram of the n request parameter.", 1, 2, 5, 10, 20),
                make.numTokens("request_params_max_tokens", "Histogram of the max_tokens request parameter."),
                make.numTokens(
                        "request_prefill_kv_computed_tokens",
                        "Histogram of new KV tokens computed during prefill (excluding cached tokens)."),
                make.ttftSeconds("time_to_first_token_seconds", "Histogram of time to first token in seconds."),
                make.tokenSeconds("inter_token_latency_seconds", "Histogram of inter-token latency in seconds."),
                make.tokenSeconds(
                        "request_time_per_output_token_seconds",
                        "Histogram of time_per_output_token_seconds per request."),
                make.requestSeconds("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds."),
                make.requestSeconds(
                        "request_queue_time_seconds", "Histogram of time spent in WAITING phase for request."),
                make.requestSeconds(
                        "request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request."),
                make.requestSeconds(
                        "request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request."),
                make.requestSeconds(
                        "request_decode_time_seconds", "Histogram of time spent in DECODE phase for request."))) {
            var name = each.collect().getMetadata().getName();
            histograms.put(name.substring("vllm:".length()), each);
        }
    }

    LegacyNames legacyNames() {
        var tokenSeconds = Objects.requireNonNull(histograms.get("inter_token_latency_seconds"));
        return new LegacyNames(kvUsage, tokenSeconds, prefixQueries, prefixHits);
    }

    Map<String, CounterDataPoint> successByReason(String engine, String model) {
        var byReason = new LinkedHashMap<String, CounterDataPoint>();
        FINISHED_REASONS.forEach(reason -> byReason.put(reason, success.labelValues(engine, model, reason)));
        return byReason;
    }

    Map<String, DistributionDataPoint> histograms(String engine, String model) {
        var points = new LinkedHashMap<String, DistributionDataPoint>();
        histograms.forEach((name, family) -> points.put(name, family.labelValues(engine, model)));
        return points;
    }

    /** Shows the series that never change. */
    void constants(String engine, String model) {
        alwaysZero.forEach(family -> family.initLabelValues(engine, model));
        sleepState(engine, model, ReplicaState.READY);
    }

    /** At vLLM's sleep level 0 an engine is in none of these states. */
    void sleepState(String engine, String model, ReplicaState state) {
        sleepState.labelValues(engine, model, "awake").set(state.isAsleep() ? 0 : 1);
        for (var each : List.of(ReplicaState.WEIGHTS_OFFLOADED, ReplicaState.DISCARD_ALL)) {
            String label = each.name().toLowerCase(Locale.ROOT);
            sleepState.labelValues(engine, model, label).set(state == each ? 1 : 0);
        }
    }

    private void cacheConfig(int engine, EngineSpec spec, String hashAlgorithm) {
        var labels = CacheConfigLabels.of(engine, spec, hashAlgorithm);
        cacheConfigs.put(engine, labels);
        cacheConfig.addLabelValues(labels);
    }

    @Override
    public void forget(int engine) {
        make.forget(String.valueOf(engine));
        if (loras != null) {
            loras.forget(engine);
        }
        cacheConfig.remove(cacheConfigs.remove(engine));
    }
}

package understudy.engine.sglang;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.engine.Engine;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.RankRules;
import understudy.engine.RequestLimits;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.kvcache.KvCache;
import understudy.kvcache.radix.RadixKvCache;
import understudy.kvcache.radix.RadixSpec;
import understudy.latency.DraftingLatency;
import understudy.latency.LatencyModel;
import understudy.latency.LoadingLatency;
import understudy.prompt.BlockHasher;
import understudy.settings.Section;

/**
 * SGLang's engine with its settings.
 *
 * @param config settings of its scheduler
 * @param kvCache sizes and switches of its memory
 * @param limits which requests are too long
 * @param room of its KV cache
 * @param drafts which drafts are accepted, or null without speculation
 * @param draftsNanos how long the drafts of a step take
 * @param memFractionStatic share of the memory for weights and KV
 * @param mambaSsmDtype format of the states of linear attention, or null if the model has none
 * @param numRanks replicas that step together, with DP attention; 1 without
 * @param loraModules paths by name of the adapters that a server has from its start
 * @param decoding settings for the role in which it answers only
 * @param warnings what SGLang does, and is left out here
 */
@RecordBuilder
public record SglangSpec(
        SglangConfig config,
        RadixSpec kvCache,
        RequestLimits limits,
        KvRoom room,
        SyntheticDrafts.@Nullable Spec drafts,
        double draftsNanos,
        double memFractionStatic,
        @Nullable String mambaSsmDtype,
        int numRanks,
        Map<String, String> loraModules,
        Decoding decoding,
        List<String> warnings)
        implements EngineSpec {
    /** Up to so many running requests a decoding engine has rows for twice as many more ({@code model_runner.py}). */
    private static final int MAX_RUNNING_WITH_EXTRA_SLOTS = 32;

    /**
     * Settings of an engine that decodes what others have prefilled.
     *
     * @param numReservedTokens tokens that are kept free for each request that is there ({@code num_reserved_decode_tokens})
     * @param pollingInterval turns between two looks at those that are to come ({@code
     *     disaggregation_decode_polling_interval})
     */
    public record Decoding(int numReservedTokens, int pollingInterval) {}

    @Override
    public Engine createEngine() {
        return new SglangEngine(config);
    }

    @Override
    public KvCache createMemory() {
        return new RadixKvCache(kvCache);
    }

    @Override
    public SglangSpec comparedBy(BlockHasher hasher) {
        return with(config, kvCache.withHasher(hasher), limits);
    }

    /**
     * An engine that decodes has no tree. What could never get its places there, with those that are kept free, is turned away;
     * in SGLang it waits for ever.
     */
    @Override
    public SglangSpec withRole(boolean isPrefill) {
        var memory = kvCache.radix().inRole(isPrefill);
        int maxRunning = config.maxRunningRequests();
        var role = new SglangConfig.Disaggregation(
                isPrefill,
                decoding.numReservedTokens,
                decoding.pollingInterval,
                maxRunning <= MAX_RUNNING_WITH_EXTRA_SLOTS ? 2 * maxRunning : 0,
                0);
        return with(
                SglangConfigBuilder.builder(config)
                        .disaggregation(role)
                        .memory(memory)
                        .build(),
                new RadixSpec(memory, kvCache.maxModelLen(), kvCache.hasher(), kvCache.recordsEvents()),
                isPrefill ? limits : limits.withLess(decoding.numReservedTokens));
    }

    private SglangSpec with(SglangConfig newConfig, RadixSpec newCache, RequestLimits newLimits) {
        return SglangSpecBuilder.builder(this)
                .config(newConfig)
                .kvCache(newCache)
                .limits(newLimits)
                .build();
    }

    @Override
    public LatencyModel latency(LatencyModel plain) {
        var loading = config.memory().hierarchy() == null ? plain : new LoadingLatency(plain);
        return draftsNanos == 0 ? loading : new DraftingLatency(loading, draftsNanos);
    }

    /** With drafts, prefills and decodes of different ranks are never in one step. */
    @Override
    public RankRules rankRules() {
        boolean agree = config.prefillDelay() != null || config.prefillDecodeInterval() > 0;
        return new RankRules(
                agree ? () -> new RankDelays(config) : null, agree && config.overlaps(), config.verification() != null);
    }

    @Override
    public EngineTraits traits() {
        int chunk = config.chunksPrefill() ? config.chunkedPrefillSize() : maxTokensOfPrefill();
        var verification = config.verification();
        int numDraftTokens = verification == null ? 1 : verification.numDraftTokens();
        return new EngineTraits(
                        SglangFamily.NAME,
                        config.maxRunningRequests(),
                        Math.max(chunk, config.maxRunningRequests() * numDraftTokens),
                        Math.min(chunk, config.maxModelLen()),
                        config.overlaps() ? 2 : 1,
                        verification == null ? 0 : verification.numSteps(),
                        Set.of(Feature.BOUNDED_RUNNING, Feature.SGLANG_SERVER))
                .with(Feature.PRIORITIES, config.priorities().areOn())
                .with(Feature.PREEMPTS_FOR_OTHERS, config.priorities().arePreempting())
                .with(Feature.ADAPTERS, config.maxLorasPerBatch() > 0);
    }

    /** Without chunks the limit ends a prefill batch behind the request that reaches it. */
    private int maxTokensOfPrefill() {
        return (int) Math.min(Integer.MAX_VALUE, (long) config.maxPrefillTokens() + config.maxModelLen());
    }

    @Override
    public String memorySize() {
        return "engine.sglang.max-total-tokens " + config.memory().maxTotalTokens() + ", at most " + kvCache.maxTokens()
                + " for one request";
    }

    @Override
    public OptionalDouble memoryShare() {
        return OptionalDouble.of(memFractionStatic);
    }

    @Override
    public Map<String, Object> resolved() {
        var values = new LinkedHashMap<String, Object>();
        values.put("engine.max-num-seqs", config.maxRunningRequests());
        values.put("engine.max-model-len", config.maxModelLen());
        values.put("engine.sglang.max-running-requests", config.maxRunningRequests() * numRanks);
        values.put(
                "engine.sglang.chunked-prefill-size",
                config.chunksPrefill() ? config.chunkedPrefillSize() * numRanks : -1);
        values.put("engine.sglang.max-total-tokens", config.memory().maxTotalTokens());
        values.put("engine.sglang.mem-fraction-static", memFractionStatic);
        values.put("engine.sglang.enable-dp-attention", numRanks > 1);
        return values;
    }

    @Override
    public Map<String, Map<String, Object>> describe() {
        var sections = EngineSpec.super.describe();
        var scheduler = Objects.requireNonNull(sections.get("scheduler_config"));
        scheduler.put("schedule_policy", Section.nameOf(config.schedulePolicy()));
        scheduler.put("chunked_prefill_size", config.chunksPrefill() ? config.chunkedPrefillSize() : -1);
        scheduler.put("max_prefill_tokens", config.maxPrefillTokens());
        scheduler.put("max_running_requests", config.maxRunningRequests());
        scheduler.put("schedule_conservativeness", config.scheduleConservativeness());
        scheduler.put("enable_mixed_chunk", config.mixesChunks());
        scheduler.put("disable_overlap_schedule", !config.overlaps());
        var cache = Objects.requireNonNull(sections.get("cache_config"));
        cache.put("page_size", config.memory().pageSize());
        cache.put("max_total_num_tokens", config.memory().maxTotalTokens());
        cache.put("radix_eviction_policy", Section.nameOf(config.memory().evictionPolicy()));
        cache.put("disable_radix_cache", config.memory().disableRadixCache());
        if (mambaSsmDtype != null) {
            cache.put("mamba_ssm_dtype", mambaSsmDtype);
        }
        return sections;
    }
}

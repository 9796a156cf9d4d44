package understudy.engine.vllm;

import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.engine.Engine;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.RequestLimits;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.KvCache;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.content.ContentConfig;
import understudy.latency.LatencyModel;

/**
 * vLLM's engine with its settings.
 *
 * @param scheduler settings of its scheduler
 * @param limits which requests are too long
 * @param kvCache sizes and switches of its memory
 * @param speculation drafts that its device makes
 * @param lora adapters, and what they take
 * @param room of its KV blocks
 * @param stateDtype format of the states of linear attention
 */
public record VllmSpec(
        SchedulerConfig scheduler,
        RequestLimits limits,
        BlockCacheSpec kvCache,
        SpeculationSettings speculation,
        LoraSettings lora,
        KvRoom room,
        String stateDtype)
        implements EngineSpec {

    /** Creates an engine whose device is not known. */
    public VllmSpec(SchedulerConfig scheduler, RequestLimits limits, BlockCacheSpec kvCache) {
        this(scheduler, limits, kvCache, SpeculationSettings.NONE, LoraSettings.NONE, KvRoom.GIVEN, "auto");
    }

    @Override
    public Engine createEngine() {
        return new StepPlanner(scheduler, kvCache);
    }

    @Override
    public KvCache createMemory() {
        return kvCache.create();
    }

    @Override
    public EngineTraits traits() {
        int budget = scheduler.maxNumBatchedTokens();
        int threshold = scheduler.longPrefills().tokens(1, budget);
        return new EngineTraits(
                        VllmFamily.NAME,
                        scheduler.maxNumSeqs(),
                        budget,
                        threshold > 0 ? Math.min(threshold, budget) : budget,
                        scheduler.maxStepsInFlight(),
                        scheduler.speculation().numSpeculativeTokens(),
                        Set.of(Feature.BOUNDED_RUNNING))
                .with(Feature.ADAPTERS, scheduler.loras().isOn())
                .with(Feature.PRIORITIES, scheduler.policy() == SchedulingPolicy.PRIORITY)
                .with(Feature.CALLS_IN_FLIGHT, scheduler.asyncScheduling());
    }

    @Override
    public VllmSpec withConnector(@Nullable ConnectorSpec connector) {
        if (kvCache instanceof ContentConfig content) {
            return new VllmSpec(
                    scheduler, limits, content.withConnector(connector), speculation, lora, room, stateDtype);
        }
        return (VllmSpec) EngineSpec.super.withConnector(connector);
    }

    @Override
    public LatencyModel latency(LatencyModel plain) {
        return lora.latency(speculation.latency(plain));
    }

    @Override
    public SyntheticDrafts.@Nullable Spec drafts() {
        return speculation.drafts();
    }

    @Override
    public Map<String, String> loraModules() {
        return lora.modules();
    }

    @Override
    public Map<String, Object> resolved() {
        var values = EngineSpec.super.resolved();
        values.put("engine.max-num-batched-tokens", scheduler.maxNumBatchedTokens());
        return values;
    }

    @Override
    public Map<String, Map<String, Object>> describe() {
        var sections = EngineSpec.super.describe();
        var config = Objects.requireNonNull(sections.get("scheduler_config"));
        config.put("long_prefill_token_threshold", scheduler.longPrefills().threshold());
        config.put("enable_chunked_prefill", scheduler.enableChunkedPrefill());
        config.put("scheduler_reserve_full_isl", scheduler.reserveFullSequence());
        config.put("policy", scheduler.policy().name().toLowerCase(Locale.ROOT));
        config.put("async_scheduling", scheduler.asyncScheduling());
        Objects.requireNonNull(sections.get("parallel_config"))
                .put("pipeline_parallel_size", scheduler.pipelineParallelSize());
        return sections;
    }
}

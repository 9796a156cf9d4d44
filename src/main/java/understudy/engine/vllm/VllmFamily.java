package understudy.engine.vllm;

import java.util.List;
import understudy.engine.EngineFamily;
import understudy.engine.EngineSizes;
import understudy.engine.EngineSpec;
import understudy.engine.Hardware;
import understudy.engine.MemorySettings;
import understudy.engine.MemorySettings.Dedup;
import understudy.engine.lora.LoraConfig;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.PrefixUnit;
import understudy.kvcache.content.ContentConfigBuilder;
import understudy.kvcache.hybrid.HybridConfig;
import understudy.kvcache.session.GlobalPrefixLimits;
import understudy.kvcache.session.SessionConfig;
import understudy.kvcache.session.SessionMode;
import understudy.latency.StepExecution;
import understudy.settings.Section;

/** Family of vLLM V1. */
public final class VllmFamily implements EngineFamily {
    static final String NAME = "vllm";

    private static final int MAX_INTERVAL = 1_000_000;
    private static final int MAX_STORED_TOKENS = 100_000_000;
    private static final int MAX_USES = 1_000_000;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EngineSpec read(Section engine, Section kvCache, Hardware hardware, KvUse use) {
        var lora = LoraSettings.read(engine, hardware);
        var sizes = new EngineSizes(engine, kvCache, PrefixUnit.BLOCK, hardware, use.hasConnector(), lora.slotBytes());
        var speculation = SpeculationSettings.read(engine);
        var memory = memory(
                engine,
                kvCache,
                sizes,
                MemorySettings.blocks(engine, kvCache, sizes, use.recordsEvents()),
                speculation.config().usesEagle());
        var scheduler = scheduler(engine, sizes, memory.maxModelLen(), lora.config(), speculation.config());
        if (memory.findsBySession() && speculation.config().isOn()) {
            throw kvCache.unusable("sessions", "which engine.speculative.method needs to be off");
        }
        requireReservation(engine, scheduler, memory);
        var limits = MemorySettings.limits(
                engine, kvCache, memory, speculation.config().maxTokensBeyondEnd());
        return new VllmSpec(
                scheduler,
                limits,
                memory,
                speculation,
                lora,
                sizes.room(),
                MemorySettings.stateDtype(kvCache, hardware));
    }

    @Override
    public StepExecution execution(Section engine, Hardware hardware) {
        return VllmExecution.read(engine, hardware);
    }

    /** Reads the memory: by session, of groups of layers, or of one group. */
    private static BlockCacheSpec memory(
            Section engine, Section kvCache, EngineSizes sizes, KvBlocks blocks, boolean dropsLastHit) {
        boolean sharesWithinStep =
                MemorySettings.sharesWithinStep(engine, blocks.enablePrefixCaching(), NAME, Dedup.BLOCKS);
        var fullHit = engine.choice("full-hit", FullHit.class);
        var mode = kvCache.choice("sessions", SessionMode.class);
        var globalPrefixes = globalPrefixes(kvCache.section("global-prefix-store"), mode);
        var freeBlocks = MemorySettings.freeBlocks(kvCache);
        boolean promotesFullBlocks = kvCache.bool("promote-full-blocks");
        boolean cachesGeneratedBlocks = kvCache.bool("cache-generated-blocks");
        if (mode != SessionMode.OFF && blocks.enablePrefixCaching()) {
            return new SessionConfig(blocks, sharesWithinStep, mode, globalPrefixes, fullHit);
        }
        var groups = sizes.groupsOrNull(blocks.maxModelLen());
        if (groups != null) {
            return new HybridConfig(blocks, freeBlocks, sharesWithinStep, dropsLastHit, groups);
        }
        return ContentConfigBuilder.builder()
                .blocks(blocks)
                .freeBlocks(freeBlocks)
                .promotesFullBlocks(promotesFullBlocks)
                .sharesWithinStep(sharesWithinStep)
                .fullHit(fullHit)
                .cachesGeneratedBlocks(cachesGeneratedBlocks)
                .dropsLastHit(dropsLastHit)
                .build();
    }

    private static GlobalPrefixLimits globalPrefixes(Section store, SessionMode mode) {
        boolean isOn = store.bool("enabled");
        if (isOn && mode == SessionMode.OFF) {
            throw store.unusable(
                    "enabled", "but kv-cache.sessions is off: then all prefixes are found by content, in one store");
        }
        var limits = new GlobalPrefixLimits(
                store.wholeNumber("min-length", 1, MAX_STORED_TOKENS),
                store.wholeNumber("min-uses", 1, MAX_USES),
                store.wholeNumber("max-tokens", 1L, Long.MAX_VALUE));
        return isOn ? limits : GlobalPrefixLimits.OFF;
    }

    private static SchedulerConfig scheduler(
            Section engine, EngineSizes sizes, int maxModelLen, LoraConfig loras, SpeculationConfig speculation) {
        engine.requireDefaults(List.of("prefill"), "which needs engine.kind = roseinfer");
        if (sizes.pipelineParallelSize() > 1 && speculation.isOn()) {
            throw engine.unusable("speculative.method", "but there are no drafts in a pipeline");
        }
        int maxNumBatchedTokens = sizes.maxNumBatchedTokens(maxModelLen);
        int longest = engine.bool("enable-chunked-prefill") ? 1 : maxModelLen;
        if (maxNumBatchedTokens < speculation.numDraftSlots() + longest) {
            throw engine.unusable(
                    EngineSizes.MAX_NUM_BATCHED_TOKENS,
                    "but with engine.speculative each request takes " + speculation.numDraftSlots()
                            + " more of them than its own; it must be at least "
                            + (speculation.numDraftSlots() + longest));
        }
        return SchedulerConfigBuilder.builder()
                .maxNumSeqs(sizes.maxNumSeqs())
                .maxNumActiveSeqs(sizes.maxNumActiveSeqs())
                .maxNumBatchedTokens(maxNumBatchedTokens)
                .longPrefills(new LongPrefillCap(
                        engine.wholeNumber("long-prefill-token-threshold", 0, EngineSizes.MAX_TOKENS),
                        !engine.bool("cap-lone-prefills"),
                        engine.bool("long-prefill-token-threshold-adaptive")))
                .enableChunkedPrefill(engine.bool("enable-chunked-prefill"))
                .reserveFullSequence(engine.bool("scheduler-reserve-full-isl"))
                .policy(engine.choice("scheduling-policy", SchedulingPolicy.class))
                .preemptionVictim(engine.choice("preemption-victim", PreemptionVictim.class))
                .asyncScheduling(sizes.isAsync())
                .decodeCohortMinSeqs(engine.wholeNumber("decode-cohort-min-seqs", 0, EngineSizes.MAX_TOKENS))
                .prefillScheduleInterval(engine.wholeNumber("prefill-schedule-interval", 1, MAX_INTERVAL))
                .loras(loras)
                .pipelineParallelSize(sizes.pipelineParallelSize())
                .speculation(speculation)
                .countsResumedAsNew(engine.bool("resumed-as-new"))
                .knownBugs(KnownBug.read(engine))
                .build();
    }

    /** With sessions a preempted request starts anew, so requests that take each other's blocks may never end. */
    private static void requireReservation(Section engine, SchedulerConfig scheduler, BlockCacheSpec memory) {
        if (memory.findsBySession() && !scheduler.reserveFullSequence()) {
            throw engine.unusable(
                    "scheduler-reserve-full-isl",
                    "but with kv-cache.sessions a preempted request starts anew, and without the reservation requests"
                            + " may preempt each other for ever");
        }
    }
}

package understudy.scenario;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValueFactory;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.PlannerConfig;
import understudy.engine.PreemptionVictim;
import understudy.engine.RequestLimits;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.RoseinferConfig;
import understudy.engine.RoseinferConfig.PrefillMode;
import understudy.engine.SchedulerConfig;
import understudy.engine.lora.LoraConfig;
import understudy.engine.queue.SchedulingPolicy;
import understudy.engine.speculation.AcceptanceRates;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.speculation.SpeculationMethod;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.kvcache.GlobalPrefixLimits;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.PrefixOptions;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeOrder;
import understudy.latency.DraftingLatency;
import understudy.latency.LatencyModel;
import understudy.prompt.BlockHasher;
import understudy.prompt.CborBlockHasher;
import understudy.prompt.Xxh3BlockHasher;
import understudy.settings.Numbers;
import understudy.settings.Section;

/**
 * The sections {@code engine} and {@code kv-cache}.
 *
 * @param kind which engine a replica runs
 * @param scheduler settings of its scheduler
 * @param speculation which drafts its device makes
 * @param lora adapters, and what they take
 * @param kvCache sizes and switches of its KV memory
 * @param limits which requests are too long, and what becomes of them
 * @param reservedTokens token budget that memory was set aside for when the number of blocks was derived, or 0 if it
 *     was not
 */
public record EngineSettings(
        EngineKind kind,
        PlannerConfig scheduler,
        Speculation speculation,
        LoraSettings lora,
        KvCacheConfig kvCache,
        RequestLimits limits,
        int reservedTokens) {
    private static final int MAX_STORED_TOKENS = 100_000_000;
    private static final int MAX_USES = 1_000_000;

    private static final List<String> VLLM_KEYS = List.of(
            EngineSizes.MAX_NUM_BATCHED_TOKENS,
            "long-prefill-token-threshold",
            "enable-chunked-prefill",
            "scheduler-reserve-full-isl",
            "watermark",
            "scheduling-policy",
            "preemption-victim",
            "async-scheduling",
            "decode-cohort-min-seqs",
            "prefill-schedule-interval",
            "speculative.method",
            "lora.enable",
            "full-hit",
            "context-window-exceeded");

    private enum HashAlgorithm {
        XXH3,
        SHA256_CBOR,
        XXHASH_CBOR
    }

    /**
     * The section {@code engine.speculative}.
     *
     * @param config what the scheduler has to know
     * @param drafts what the device makes of them, or null without speculation
     * @param draftsNanos how long it takes for all drafts of a step
     */
    public record Speculation(SpeculationConfig config, SyntheticDrafts.@Nullable Spec drafts, double draftsNanos) {
        private static final int MAX_DRAFTS = 128;
        private static final String RATES = "synthetic-acceptance-rates";
        private static final String LENGTH = "synthetic-acceptance-length";

        static Speculation read(Section engine) {
            var section = engine.section("speculative");
            var method = section.choice("method", SpeculationMethod.class);
            if (method == SpeculationMethod.NONE) {
                return new Speculation(SpeculationConfig.NONE, null, 0);
            }
            if (method.isOnHost() && !engine.text("async-scheduling").equals("false")) {
                throw section.unusable("method", "whose drafts come too late for engine.async-scheduling = true");
            }
            int count = section.wholeNumber("num-speculative-tokens", 1, MAX_DRAFTS);
            var drafts = new SyntheticDrafts.Spec(count, section.number("proposal-rate", 0, 1), rates(section, count));
            return new Speculation(method.config(count), drafts, count * section.nanos("draft-time-per-token"));
        }

        private static AcceptanceRates rates(Section section, int count) {
            var texts = section.texts(RATES);
            if (texts.isEmpty()) {
                return AcceptanceRates.ofLength(section.number(LENGTH, 1, 1.0 + count), count);
            }
            section.requireDefaults(List.of(LENGTH), "but " + RATES + " say the same; give one of them");
            double[] rates = texts.stream().mapToDouble(Numbers::parse).toArray();
            if (rates.length != count) {
                throw section.unusable(RATES, "of which there must be one for each of " + count + " drafts");
            }
            try {
                return new AcceptanceRates(DoubleList.of(rates));
            } catch (IllegalArgumentException e) {
                throw section.unusable(RATES, "which must be from 0 to 1, and must not rise");
            }
        }

        /** Returns how long the device takes, given how long the target model does. */
        LatencyModel latency(LatencyModel target) {
            return draftsNanos == 0 ? target : new DraftingLatency(target, draftsNanos);
        }
    }

    /** Reads both sections; what is {@code auto} follows from the hardware. */
    static EngineSettings read(
            Section engine, Section kvCache, boolean recordsKvEvents, Deployment deployment, boolean hasConnector) {
        var kind = engine.choice("kind", EngineKind.class);
        var lora = LoraSettings.read(engine, kind, deployment);
        var sizes = new EngineSizes(engine, kvCache, kind.prefixUnit(), deployment, hasConnector, lora.slotBytes());
        var speculation = Speculation.read(engine);
        var memory = memory(kind, engine, kvCache, recordsKvEvents, sizes, speculation.config());
        var scheduler = kind == EngineKind.ROSEINFER
                ? roseinfer(engine, kvCache, sizes)
                : vllm(engine, sizes, memory.maxModelLen(), lora.config(), speculation.config());
        if (memory.findsBySession() && speculation.config().isOn()) {
            throw kvCache.unusable("sessions", "which engine.speculative.method needs to be off");
        }
        var limits = limits(engine, kvCache, memory, speculation.config());
        return new EngineSettings(kind, scheduler, speculation, lora, memory, limits, sizes.reservedTokens());
    }

    private static KvCacheConfig memory(
            EngineKind kind,
            Section engine,
            Section kvCache,
            boolean recordsKvEvents,
            EngineSizes sizes,
            SpeculationConfig speculation) {
        int numGpuBlocks = sizes.numGpuBlocks();
        int maxModelLen = sizes.maxModelLen(numGpuBlocks);
        boolean cachesPrefixes = kvCache.bool("enable-prefix-caching");
        return new KvCacheConfig(
                hasher(kvCache, sizes.hashBlockSize()),
                numGpuBlocks,
                cachesPrefixes,
                maxModelLen,
                (int) (engine.number("watermark", 0, 1) * numGpuBlocks),
                kvCache.choice("eviction-policy", EvictionPolicy.class),
                kvCache.choice("free-order", FreeOrder.class),
                kvCache.bool("promote-full-blocks"),
                recordsKvEvents,
                kind.prefixUnit(),
                kind.sharesWithinStep(engine, cachesPrefixes),
                prefixOptions(engine, kvCache).withDropsLastHit(speculation.usesEagle()),
                null,
                sizes.groupsOrNull(maxModelLen));
    }

    private static PlannerConfig roseinfer(Section engine, Section kvCache, EngineSizes sizes) {
        String why = "which means nothing to engine.kind = roseinfer; leave the default";
        engine.requireDefaults(VLLM_KEYS, why);
        if (sizes.pipelineParallelSize() > 1) {
            throw engine.unusable("kind", "which has no pipeline; set latency.pipeline-parallel-size = 1");
        }
        kvCache.requireDefaults(List.of("promote-full-blocks", "cache-generated-blocks", "sessions"), why);
        return new RoseinferConfig(sizes.roseinferBatchSize(), engine.choice("prefill", PrefillMode.class));
    }

    private static PlannerConfig vllm(
            Section engine, EngineSizes sizes, int maxModelLen, LoraConfig loras, SpeculationConfig speculation) {
        if (engine.choice("prefill", PrefillMode.class) == PrefillMode.SERIAL) {
            throw engine.unusable("prefill", "which needs engine.kind = roseinfer");
        }
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
        return new SchedulerConfig(
                sizes.maxNumSeqs(),
                maxNumBatchedTokens,
                engine.wholeNumber("long-prefill-token-threshold", 0, EngineSizes.MAX_TOKENS),
                engine.bool("enable-chunked-prefill"),
                engine.bool("scheduler-reserve-full-isl"),
                engine.choice("scheduling-policy", SchedulingPolicy.class),
                engine.choice("preemption-victim", PreemptionVictim.class),
                sizes.isAsync(),
                engine.wholeNumber("decode-cohort-min-seqs", 0, EngineSizes.MAX_TOKENS),
                engine.wholeNumber("prefill-schedule-interval", 1, 1_000_000),
                loras,
                sizes.pipelineParallelSize(),
                speculation);
    }

    private static RequestLimits limits(
            Section engine, Section kvCache, KvCacheConfig memory, SpeculationConfig speculation) {
        int maxSessionTokens = kvCache.wholeNumber("max-session-tokens", 0, EngineSizes.MAX_TOKENS);
        boolean isLimited = memory.findsBySession() && maxSessionTokens > 0;
        return new RequestLimits(
                memory.maxModelLen(),
                isLimited ? Math.min(maxSessionTokens, memory.maxTokens()) : memory.maxTokens(),
                engine.choice("context-window-exceeded", ContextOverflow.class),
                memory.blockSize(),
                speculation.maxTokensBeyondEnd());
    }

    private static BlockHasher hasher(Section kvCache, int blockSize) {
        String seed = kvCache.text("hash-seed");
        return switch (kvCache.choice("hash-algo", HashAlgorithm.class)) {
            case XXH3 -> new Xxh3BlockHasher(blockSize);
            case SHA256_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.SHA256_CBOR, blockSize, seed);
            case XXHASH_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.XXHASH_CBOR, blockSize, seed);
        };
    }

    /** Returns the same settings with KV from elsewhere. */
    EngineSettings withConnector(ConnectorSpec connector) {
        return new EngineSettings(
                kind, scheduler, speculation, lora, kvCache.withConnector(connector), limits, reservedTokens);
    }

    /** Returns the longest sequence in tokens, prompt and output together. */
    public int maxModelLen() {
        return kvCache.maxModelLen();
    }

    /** Returns the most tokens that one step computes. */
    public int maxNumBatchedTokens() {
        return scheduler.maxNumBatchedTokens(maxModelLen());
    }

    /** Returns the most tokens of one prompt that one step computes. */
    int maxPrefillChunkTokens() {
        int threshold = scheduler instanceof SchedulerConfig vllm ? vllm.longPrefillTokenThreshold() : 0;
        return threshold > 0 ? Math.min(threshold, maxNumBatchedTokens()) : maxNumBatchedTokens();
    }

    /** Returns {@code config} with the values that {@code auto} stands for. */
    Config resolve(Config config) {
        var resolved = with(config, "engine." + EngineSizes.MAX_NUM_SEQS, scheduler.maxNumSeqs());
        resolved = with(resolved, "engine." + EngineSizes.MAX_MODEL_LEN, maxModelLen());
        resolved = with(resolved, "kv-cache." + EngineSizes.NUM_GPU_BLOCKS, kvCache.numGpuBlocks());
        return kind == EngineKind.VLLM
                ? with(resolved, "engine." + EngineSizes.MAX_NUM_BATCHED_TOKENS, maxNumBatchedTokens())
                : resolved;
    }

    /** Reads how prefixes are kept and found again. */
    private static PrefixOptions prefixOptions(Section engine, Section kvCache) {
        var sessions = kvCache.choice("sessions", PrefixOptions.SessionMode.class);
        var store = kvCache.section("global-prefix-store");
        boolean isStoreOn = store.bool("enabled");
        if (isStoreOn && sessions == PrefixOptions.SessionMode.OFF) {
            throw store.unusable(
                    "enabled", "but kv-cache.sessions is off: then all prefixes are found by content, in one store");
        }
        var limits = new GlobalPrefixLimits(
                store.wholeNumber("min-length", 1, MAX_STORED_TOKENS),
                store.wholeNumber("min-uses", 1, MAX_USES),
                store.wholeNumber("max-tokens", 1L, Long.MAX_VALUE));
        return new PrefixOptions(
                engine.choice("full-hit", PrefixOptions.FullHit.class),
                kvCache.bool("cache-generated-blocks"),
                sessions,
                isStoreOn ? limits : GlobalPrefixLimits.OFF);
    }

    private static Config with(Config config, String key, int value) {
        return config.withValue(key, ConfigValueFactory.fromAnyRef(value));
    }
}

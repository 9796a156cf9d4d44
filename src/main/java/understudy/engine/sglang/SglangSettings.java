package understudy.engine.sglang;

import understudy.engine.EngineFamily.KvUse;
import understudy.engine.EngineSizes;
import understudy.engine.Hardware;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.MemorySettings;
import understudy.engine.RequestLimits;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.kvcache.radix.RadixConfig;
import understudy.kvcache.radix.RadixEvictionPolicy;
import understudy.kvcache.radix.RadixSpec;
import understudy.settings.Section;

/** The section {@code engine.sglang}, whose keys are SGLang's arguments, and what follows from the hardware. */
final class SglangSettings {
    private static final int MAX_PAGE_SIZE = 4096;
    private static final int MAX_REQUESTS = 1_000_000;
    private static final int MAX_POLICY_TOKENS = EngineSizes.MAX_TOKENS;

    /** Tokens per block for which {@link Hardware} is asked; SGLang counts tokens. */
    private static final int ROOM_BLOCK_SIZE = 16;

    private final Section engine;
    private final Section kvCache;
    private final Section own;
    private final Hardware hardware;

    SglangSettings(Section engine, Section kvCache, Hardware hardware) {
        this.engine = engine;
        this.kvCache = kvCache;
        this.hardware = hardware;
        own = engine.section(SglangFamily.NAME);
    }

    private enum RetractionPolicy {
        LENGTH,
        PRIORITY
    }

    SglangSpec spec(KvUse use) {
        int pageSize = own.wholeNumber("page-size", 1, MAX_PAGE_SIZE);
        int maxTotalTokens = maxTotalTokens(pageSize);
        int maxModelLen =
                engine.numberOrAuto("max-model-len", 2, EngineSizes.MAX_TOKENS).orElseGet(hardware::defaultMaxModelLen);
        int chunkedPrefillSize = chunkedPrefillSize();
        var memory = new RadixConfig(
                pageSize,
                maxTotalTokens,
                own.bool("disable-radix-cache") || !kvCache.bool("enable-prefix-caching"),
                chunkedPrefillSize > 0,
                own.choice("radix-eviction-policy", RadixEvictionPolicy.class),
                0,
                false,
                null,
                null);
        var radix = new RadixSpec(memory, maxModelLen, MemorySettings.hasher(kvCache, pageSize), use.recordsEvents());
        var config = new SglangConfig(
                schedulePolicy(),
                !own.bool("disable-overlap-schedule"),
                chunkedPrefillSize,
                own.bool("enable-mixed-chunk"),
                own.wholeNumber("max-prefill-tokens", 1, EngineSizes.MAX_TOKENS),
                own.wholeNumber("prefill-max-requests", 0, MAX_REQUESTS),
                maxRunningRequests(maxTotalTokens, maxModelLen),
                maxModelLen,
                own.positive("schedule-conservativeness"),
                priorities(),
                own.choice("retraction-policy", RetractionPolicy.class) == RetractionPolicy.PRIORITY,
                own.wholeNumber("new-token-ratio-decay-steps", 1, MAX_POLICY_TOKENS),
                own.bool("requeue-refused-preemption"),
                1,
                null,
                memory,
                own.wholeNumber("random-seed", 0L, Long.MAX_VALUE));
        var limits = new RequestLimits(
                maxModelLen,
                radix.maxTokens(),
                engine.choice("context-window-exceeded", ContextOverflow.class),
                pageSize);
        return new SglangSpec(config, radix, limits);
    }

    private SchedulePolicy schedulePolicy() {
        if (own.text("schedule-policy").equals("priority")) {
            throw own.unusable(
                    "schedule-policy",
                    "which SGLang's command line offers, and its scheduler refuses: Unknown schedule_policy:"
                            + " policy='priority'; set enable-priority-scheduling = true");
        }
        return own.choice("schedule-policy", SchedulePolicy.class);
    }

    private SglangConfig.Priorities priorities() {
        return new SglangConfig.Priorities(
                own.bool("enable-priority-scheduling"),
                own.bool("schedule-low-priority-values-first"),
                !own.bool("disable-priority-preemption"),
                own.wholeNumber("priority-scheduling-preemption-threshold", 0, Integer.MAX_VALUE));
    }

    private int maxTotalTokens(int pageSize) {
        int given = own.numberOrAuto("max-total-tokens", 4 * pageSize, EngineSizes.MAX_TOKENS)
                .orElseGet(() -> {
                    long numBlocks = hardware.numGpuBlocks(kvCache, new KvRoom(0, ROOM_BLOCK_SIZE, false, 0));
                    return (int) Math.min(EngineSizes.MAX_TOKENS, numBlocks * ROOM_BLOCK_SIZE);
                });
        return given / pageSize * pageSize;
    }

    private int chunkedPrefillSize() {
        if (own.text("chunked-prefill-size").equals("-1")) {
            return 0;
        }
        return own.numberOrAuto("chunked-prefill-size", 1, EngineSizes.MAX_TOKENS)
                .orElseGet(() -> engine.numberOrAuto(EngineSizes.MAX_NUM_BATCHED_TOKENS, 1, EngineSizes.MAX_TOKENS)
                        .orElseGet(hardware::defaultMaxNumBatchedTokens));
    }

    private int maxRunningRequests(int maxTotalTokens, int maxModelLen) {
        return own.numberOrAuto("max-running-requests", 1, MAX_REQUESTS)
                .orElseGet(() -> engine.numberOrAuto("max-num-seqs", 1, MAX_REQUESTS)
                        .orElseGet(() -> defaultMaxRunningRequests(maxTotalTokens, maxModelLen)));
    }

    /** As {@code model_runner.py} has it. */
    private static int defaultMaxRunningRequests(int maxTotalTokens, int maxModelLen) {
        return (int) Math.min(Math.max(maxTotalTokens * 512L / maxModelLen, 2048), 4096);
    }
}

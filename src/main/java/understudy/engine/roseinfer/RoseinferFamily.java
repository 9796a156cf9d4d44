package understudy.engine.roseinfer;

import java.util.List;
import understudy.engine.EngineFamily;
import understudy.engine.EngineSizes;
import understudy.engine.EngineSpec;
import understudy.engine.Hardware;
import understudy.engine.MemorySettings;
import understudy.engine.MemorySettings.Dedup;
import understudy.engine.roseinfer.RoseinferConfig.PrefillMode;
import understudy.kvcache.PrefixUnit;
import understudy.kvcache.content.PromptConfig;
import understudy.settings.Section;

/** Family of roseinfer. */
public final class RoseinferFamily implements EngineFamily {
    static final String NAME = "roseinfer";

    /** Its {@code max_batch_size}. */
    private static final int DEFAULT_BATCH_SIZE = 8;

    private static final List<String> KEYS = List.of("kind", "max-num-seqs", "max-model-len", "prefill", "dedup");

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EngineSpec read(Section engine, Section kvCache, Hardware hardware, KvUse use) {
        String why = "which means nothing to engine.kind = roseinfer; leave the default";
        engine.requireOnly(KEYS, why);
        var sizes = new EngineSizes(engine, kvCache, PrefixUnit.PROMPT, hardware, use.hasConnector(), 0);
        var memory = new PromptConfig(
                MemorySettings.blocks(engine, kvCache, sizes, use.recordsEvents()),
                MemorySettings.freeBlocks(kvCache),
                MemorySettings.sharesWithinStep(
                        engine, MemorySettings.cachesPrefixes(kvCache, false), NAME, Dedup.PROMPT));
        if (sizes.pipelineParallelSize() > 1) {
            throw engine.unusable("kind", "which has no pipeline; set latency.pipeline-parallel-size = 1");
        }
        kvCache.requireDefaults(
                List.of("promote-full-blocks", "cache-generated-blocks", "sessions", "global-prefix-store.enabled"),
                why);
        var config = new RoseinferConfig(
                sizes.givenSeqs().orElse(DEFAULT_BATCH_SIZE), engine.choice("prefill", PrefillMode.class));
        return new RoseinferSpec(config, MemorySettings.limits(engine, kvCache, memory, 0), memory, sizes.room());
    }
}

package understudy.scenario;

import understudy.kvcache.PrefixUnit;
import understudy.settings.Section;

/** The kinds of engine, and what they keep findable. */
public enum EngineKind {
    /** vLLM V1. */
    VLLM(Dedup.BLOCKS, PrefixUnit.BLOCK),
    /** The worker loop of roseinfer. */
    ROSEINFER(Dedup.PROMPT, PrefixUnit.PROMPT);

    private final Dedup dedup;
    private final PrefixUnit prefixUnit;

    /** Work that requests of one step share. */
    private enum Dedup {
        AUTO,
        OFF,
        BLOCKS,
        PROMPT
    }

    EngineKind(Dedup dedup, PrefixUnit prefixUnit) {
        this.dedup = dedup;
        this.prefixUnit = prefixUnit;
    }

    PrefixUnit prefixUnit() {
        return prefixUnit;
    }

    /** Reads whether requests of one step share anything; what they share depends on the kind. */
    boolean sharesWithinStep(Section engine, boolean cachesPrefixes) {
        var wanted = engine.choice("dedup", Dedup.class);
        if (wanted == Dedup.AUTO || wanted == Dedup.OFF) {
            return wanted == Dedup.AUTO;
        }
        if (wanted != dedup) {
            throw engine.unusable(
                    "dedup",
                    "but engine.kind = " + Section.nameOf(this) + " takes auto, off or " + Section.nameOf(dedup));
        }
        if (!cachesPrefixes) {
            throw engine.unusable("dedup", "which needs kv-cache.enable-prefix-caching = true");
        }
        return true;
    }
}

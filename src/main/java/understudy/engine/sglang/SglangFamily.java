package understudy.engine.sglang;

import java.util.ArrayList;
import java.util.List;
import understudy.engine.EngineFamily;
import understudy.engine.EngineSpec;
import understudy.engine.Hardware;
import understudy.latency.StepExecution;
import understudy.settings.Section;

/** Family of SGLang. */
public final class SglangFamily implements EngineFamily {
    static final String NAME = "sglang";

    private static final List<String> KV_CACHE_KEYS = List.of(
            "kv-cache-dtype",
            "mamba-ssm-cache-dtype",
            "enable-prefix-caching",
            "hash-algo",
            "hash-seed",
            "kv-events",
            "tiers.host.bandwidth",
            "tiers.host.bandwidth-both-ways",
            "transfer.bandwidth",
            "transfer.handshake",
            "transfer.post",
            "transfer.per-descriptor",
            "transfer.notify",
            "transfer.timeout",
            "transfer.kv-connector",
            "transfer.bootstrap-timeout",
            "transfer.waiting-timeout");

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EngineSpec read(Section engine, Section kvCache, Hardware hardware, KvUse use) {
        String why = "which means nothing to engine.kind = sglang; leave the default";
        engine.requireOnly(
                List.of(
                        "kind",
                        "version",
                        "max-num-seqs",
                        "max-num-batched-tokens",
                        "max-model-len",
                        "context-window-exceeded",
                        NAME),
                why);
        var ofKvCache = new ArrayList<>(KV_CACHE_KEYS);
        ofKvCache.addAll(SglangSettings.storageSections(engine.section(NAME)));
        kvCache.requireOnly(ofKvCache, why);
        return new SglangSettings(engine, kvCache, hardware).spec(use);
    }

    @Override
    public StepExecution execution(Section engine, Hardware hardware) {
        return SglangExecution.read(engine.section(NAME), hardware);
    }
}

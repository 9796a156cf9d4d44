package understudy.adopt;

import java.util.Locale;
import java.util.Map;

/** What a page of metrics says about the settings of its engines. */
final class MetricsFacts {
    private static final String NONE = "None";

    /** Gauges of SGLang with a size, and the flags that give it. */
    private static final Map<String, String> GAUGES =
            Map.of("sglang:page_size", "page-size", "sglang:context_len", "context-length");

    private MetricsFacts() {}

    static Findings of(MetricsPage page) {
        var findings = new Findings(page.name());
        findings.setEngine(page.engine());
        if (page.engine() == EngineName.VLLM) {
            putCacheConfig(page, findings);
        } else {
            putGauges(page, findings);
        }
        return findings;
    }

    private static void putCacheConfig(MetricsPage page, Findings findings) {
        page.all("vllm:cache_config_info").forEach(sample -> {
            String where = "vllm:cache_config_info at " + page.name();
            put(findings, Fact.KV_BLOCKS, sample.label("num_gpu_blocks"), where);
            put(findings, Fact.BLOCK_SIZE, sample.label("block_size"), where);
            flag(findings, "gpu-memory-utilization", sample.label("gpu_memory_utilization"), where);
            flag(findings, "enable-prefix-caching", sample.label("enable_prefix_caching"), where);
            flag(findings, "kv-cache-dtype", sample.label("cache_dtype"), where);
            flag(findings, "kv-offloading-size", sample.label("kv_offloading_size"), where);
            // The label has a format for models without states, too, to which it means nothing.
            if (isSaid(sample.label("mamba_block_size"))) {
                flag(findings, "mamba-ssm-cache-dtype", sample.label("mamba_ssm_cache_dtype"), where);
            }
        });
        String running = "vllm:num_requests_running";
        long numEngines = page.all(running)
                .map(sample -> sample.label("engine"))
                .distinct()
                .count();
        if (numEngines > 0) {
            findings.put(Fact.NUM_ENGINES, String.valueOf(numEngines), "labels of " + running + " at " + page.name());
        }
        page.all(running)
                .findFirst()
                .ifPresent(sample -> putName(findings, sample.label("model_name"), running + " at " + page.name()));
    }

    private static void putGauges(MetricsPage page, Findings findings) {
        page.all("sglang:max_total_num_tokens")
                .forEach(sample -> put(
                        findings,
                        Fact.KV_TOKENS,
                        String.valueOf((long) sample.value()),
                        sample.name() + " at " + page.name()));
        page.all("sglang:hicache_host_total_tokens")
                .forEach(sample -> put(
                        findings,
                        Fact.HOST_TOKENS,
                        String.valueOf((long) sample.value()),
                        sample.name() + " at " + page.name()));
        GAUGES.forEach((gauge, flag) -> page.all(gauge)
                .forEach(sample ->
                        findings.putFlag(flag, String.valueOf((long) sample.value()), gauge + " at " + page.name())));
        String running = "sglang:num_running_reqs";
        long numRanks = page.all(running)
                .map(sample -> sample.label("dp_rank"))
                .distinct()
                .count();
        if (numRanks > 0) {
            findings.put(Fact.NUM_ENGINES, String.valueOf(numRanks), "labels of " + running + " at " + page.name());
        }
        page.all(running)
                .findFirst()
                .ifPresent(sample -> putName(findings, sample.label("model_name"), running + " at " + page.name()));
    }

    private static void putName(Findings findings, String name, String where) {
        if (!name.isEmpty()) {
            findings.put(Fact.SERVED_NAME, name, where);
        }
    }

    private static void put(Findings findings, Fact fact, String value, String where) {
        if (isSaid(value)) {
            findings.putSmallest(fact, value, where);
        }
    }

    private static boolean isSaid(String value) {
        return !value.isEmpty() && !value.equals(NONE);
    }

    private static void flag(Findings findings, String flag, String value, String where) {
        if (isSaid(value)) {
            findings.putFlag(
                    flag,
                    value.equals("True") || value.equals("False") ? value.toLowerCase(Locale.ROOT) : value,
                    where);
        }
    }
}

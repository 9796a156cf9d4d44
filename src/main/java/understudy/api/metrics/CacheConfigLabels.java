package understudy.api.metrics;

import java.util.LinkedHashMap;
import java.util.Map;
import understudy.engine.EngineSpec;

/**
 * The labels of {@code vllm:cache_config_info}: every field of vLLM's {@code CacheConfig}, as Python writes its values.
 */
final class CacheConfigLabels {
    private static final String NONE = "None";
    private static final Map<String, String> DEFAULTS = defaults();

    /** Their names. */
    static final String[] NAMES = DEFAULTS.keySet().toArray(String[]::new);

    private CacheConfigLabels() {}

    /** Returns their values for a replica, in the order of the names. */
    static String[] of(int engine, EngineSpec spec, String hashAlgorithm) {
        var kvCache = spec.kvCache();
        var labels = new LinkedHashMap<>(DEFAULTS);
        labels.put("engine", String.valueOf(engine));
        labels.put("block_size", String.valueOf(kvCache.blockSize()));
        labels.put("num_gpu_blocks", String.valueOf(kvCache.numGpuBlocks()));
        spec.memoryShare().ifPresent(share -> labels.put("gpu_memory_utilization", String.valueOf(share)));
        labels.put("enable_prefix_caching", kvCache.enablePrefixCaching() ? "True" : "False");
        labels.put("prefix_caching_hash_algo", hashAlgorithm);
        if (kvCache.stateBlockSize() > 0) {
            // A state that is not cached is for as many tokens as a sequence may have.
            boolean caches = kvCache.enablePrefixCaching();
            labels.put("mamba_block_size", String.valueOf(caches ? kvCache.stateBlockSize() : kvCache.maxModelLen()));
            labels.put("mamba_ssm_cache_dtype", spec.stateDtype());
            labels.put("mamba_cache_mode", caches ? "align" : "none");
        }
        labels.put("kv_cache_size_tokens", String.valueOf(kvCache.maxTokens()));
        return labels.values().toArray(String[]::new);
    }

    private static Map<String, String> defaults() {
        var labels = new LinkedHashMap<String, String>();
        labels.put("_block_size_resolved", "True");
        labels.put("block_size", "16");
        labels.put("cache_dtype", "auto");
        labels.put("enable_prefix_caching", "True");
        labels.put("engine", "0");
        labels.put("gpu_memory_utilization", "0.92");
        labels.put("is_attention_free", "False");
        labels.put("kv_cache_dtype_skip_layers", "[]");
        labels.put("kv_cache_max_concurrency", NONE);
        labels.put("kv_cache_memory_bytes", NONE);
        labels.put("kv_cache_size_tokens", NONE);
        labels.put("kv_offloading_backend", "native");
        labels.put("kv_offloading_size", NONE);
        labels.put("kv_sharing_fast_prefill", "False");
        labels.put("mamba_block_size", NONE);
        labels.put("mamba_cache_dtype", "auto");
        labels.put("mamba_cache_mode", "none");
        labels.put("mamba_page_size_padded", NONE);
        labels.put("mamba_ssm_cache_dtype", "auto");
        labels.put("num_cpu_blocks", NONE);
        labels.put("num_gpu_blocks", NONE);
        labels.put("num_gpu_blocks_override", NONE);
        labels.put("prefix_cache_retention_interval", "0");
        labels.put("prefix_caching_hash_algo", "sha256");
        labels.put("prefix_match_unit", NONE);
        labels.put("replayssm_buffer_len", "16");
        labels.put("skip_page_size_padded", NONE);
        labels.put("sliding_window", NONE);
        labels.put("use_kda_recoverssm", "False");
        labels.put("use_replayssm", "False");
        labels.put("user_specified_block_size", "True");
        labels.put("user_specified_mamba_block_size", "False");
        return labels;
    }
}

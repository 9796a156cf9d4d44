package understudy.conform;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.speculation.SpeculationMethod;
import understudy.kvcache.KvGroup;
import understudy.kvcache.KvGroups;

/** Settings of a recording, as they stand in its file. */
final class RecordedSettings {
    private RecordedSettings() {}

    static RecordedRun.Config read(RecordedPart config) {
        String policy = config.get("policy").text();
        if (!policy.equals("fcfs") && !policy.equals("priority")) {
            throw config.get("policy").unusable("fcfs or priority");
        }
        return RecordedRunConfigBuilder.builder()
                .numBlocks(config.get("num_blocks").number(2))
                .blockSize(config.get("block_size").number(1))
                .maxNumBatchedTokens(config.get("max_num_batched_tokens").number(1))
                .maxNumSeqs(config.get("max_num_seqs").number(1))
                .maxModelLen(config.get("max_model_len").number(2))
                .longPrefillTokenThreshold(
                        config.get("long_prefill_token_threshold").number(0))
                .isPriority(policy.equals("priority"))
                .enablePrefixCaching(config.get("prefix_caching").bool())
                .enableChunkedPrefill(config.get("chunked_prefill").bool())
                .asyncScheduling(config.get("async").bool())
                .connector(connector(config))
                .speculation(speculation(config))
                .maxLoras(config.number("max_loras", 0, 0))
                .pipelineParallelSize(config.number("pipeline_parallel_size", 1, 1))
                .countsResumedAsNew(config.bool("v2_model_runner", false))
                .groups(groups(config))
                .notReplayed(notReplayed(config))
                .build();
    }

    private static List<String> notReplayed(RecordedPart config) {
        var names = new ArrayList<String>();
        int budget = config.get("max_num_batched_tokens").number(1);
        if (config.number("max_num_scheduled_tokens", 1, budget) != budget) {
            names.add("max_num_scheduled_tokens");
        }
        return names;
    }

    private static @Nullable KvGroups groups(RecordedPart config) {
        var part = config.find("groups");
        if (part == null) {
            return null;
        }
        var groups = part.list(RecordedSettings::group);
        if (groups.isEmpty()) {
            return null;
        }
        int budget = config.get("max_num_batched_tokens").number(1);
        int threshold = config.get("long_prefill_token_threshold").number(0);
        if (KvGroups.commonBlockSize(groups) > Integer.MAX_VALUE) {
            throw part.problem("has block sizes whose least common multiple is above " + Integer.MAX_VALUE);
        }
        long numStages = config.number("pipeline_parallel_size", 1, 1);
        long maxStepsInFlight = config.get("async").bool() ? numStages + 1 : numStages;
        return new KvGroups(
                groups,
                config.number("prefix_cache_retention_interval", 0, KvGroups.RETAIN_ALL),
                (int) Math.min(maxStepsInFlight * budget, Integer.MAX_VALUE),
                threshold > 0 ? Math.min(budget, threshold) : budget);
    }

    private static KvGroup group(RecordedPart group) {
        String name = group.get("kind").text();
        for (var kind : KvGroup.Kind.values()) {
            if (kind.vllmName().equals(name)) {
                int chunk = group.number("attention_chunk_size", 1, 0);
                return new KvGroup(kind, group.get("block_size").number(1), group.number("sliding_window", 1, chunk));
            }
        }
        throw group.get("kind").unusable("a kind of groups that vLLM has");
    }

    private static SpeculationConfig speculation(RecordedPart config) {
        if (config.find("lookahead_tokens") == null && config.find("spec_method") != null) {
            String method = config.get("spec_method").text().toUpperCase(Locale.ROOT);
            return Stream.of(SpeculationMethod.values())
                    .filter(known -> known.name().equals(method))
                    .findFirst()
                    .orElseThrow(() -> config.get("spec_method").unusable("a method that vLLM has, such as eagle"))
                    .config(config.get("num_speculative_tokens").number(1));
        }
        return new SpeculationConfig(
                config.number("num_speculative_tokens", 0, 0),
                config.number("lookahead_tokens", 0, 0),
                config.number("draft_slots", 0, 0),
                config.bool("use_eagle", false));
    }

    private static @Nullable RecordedConnector connector(RecordedPart config) {
        var role = config.find("kv_role");
        if (role == null) {
            return null;
        }
        return new RecordedConnector(
                !role.text().equals("kv_consumer"),
                !role.text().equals("kv_producer"),
                config.find("kv_load_failure_policy") == null
                        || config.get("kv_load_failure_policy").text().equals("recompute"),
                config.find("cpu_blocks") == null ? null : offload(config));
    }

    private static RecordedConnector.Offload offload(RecordedPart config) {
        return new RecordedConnector.Offload(
                config.get("cpu_blocks").number(1),
                config.get("cpu_policy").text().equals("arc"),
                config.get("blocks_per_chunk").number(1),
                config.get("store_threshold").number(0),
                config.get("offload_prompt_only").bool(),
                config.get("load_steps").number(0),
                config.get("store_steps").number(0));
    }
}

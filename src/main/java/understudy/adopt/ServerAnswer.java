package understudy.adopt;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import understudy.json.Jackson;
import understudy.settings.ScenarioException;

/**
 * What an answer of a server in JSON says: {@code /v1/models}, {@code /version}, vLLM's {@code /server_info}, SGLang's {@code
 * /get_server_info} and {@code /get_model_info}.
 *
 * @param name of the file or address it comes from
 */
record ServerAnswer(String name, JsonNode json, Findings findings) {
    /**
     * Reads an answer.
     *
     * @throws ScenarioException if the text is no JSON, or none that tells of a server
     */
    static Findings read(String name, String text) {
        try {
            var answer = new ServerAnswer(name, Jackson.readerOfWholeTexts().readTree(text), new Findings(name));
            answer.read();
            return answer.findings;
        } catch (JsonProcessingException e) {
            throw new ScenarioException(name + ": not JSON from its line "
                    + e.getLocation().getLineNr() + " on: " + e.getOriginalMessage());
        }
    }

    private void read() {
        if (json.path("data").isArray()) {
            readModels();
        } else if (json.has("vllm_config")) {
            readVllm();
        } else if (json.has("internal_states") || json.has("max_total_num_tokens") || json.has("decode")) {
            readSglang(json.has("decode") ? json.path("decode").path(0) : json);
        } else if (json.has("is_generation")) {
            findings.setEngine(EngineName.SGLANG);
            flag("model-path", json.path("model_path"));
        } else if (json.path("version").isTextual()) {
            findings.put(Fact.VERSION, json.path("version").textValue(), name);
        } else if (json.has("status") && json.path("data").has("result")) {
            throw new ScenarioException(
                    name + ": an answer of Prometheus, which tells of the load; give it to --metrics");
        } else {
            throw new ScenarioException(name + ": JSON, but no answer of vLLM or SGLang about itself");
        }
    }

    /** Adapters have a parent, and a path in place of the model's. */
    private void readModels() {
        var adapters = new ArrayList<String>();
        var names = Jackson.mapper().createArrayNode();
        for (var model : json.path("data")) {
            switch (model.path("owned_by").asText()) {
                case "vllm" -> findings.setEngine(EngineName.VLLM);
                case "sglang" -> findings.setEngine(EngineName.SGLANG);
                default -> {}
            }
            if (model.path("parent").isTextual()) {
                adapters.add(
                        model.path("id").asText() + "=" + model.path("root").asText());
            } else {
                names.add(model.path("id").asText());
            }
        }
        boolean isSglang = findings.engine() == EngineName.SGLANG;
        if (names.isEmpty() || findings.engine() == null) {
            throw new ScenarioException(name + ": a list of models, but neither vLLM's nor SGLang's: owned_by is \""
                    + json.path("data").path(0).path("owned_by").asText() + "\"");
        }
        var first = json.path("data").path(0);
        flag(isSglang ? "model-path" : "model", first.path("root"));
        flag(isSglang ? "context-length" : "max-model-len", first.path("max_model_len"));
        findings.put(Fact.SERVED_NAME, names.path(0).asText(), name);
        if (names.size() > 1) {
            findings.putFlag("served-model-name", names.toString(), name);
        }
        if (!adapters.isEmpty()) {
            findings.putFlag("enable-lora", "true", name);
            findings.putFlag(
                    isSglang ? "lora-paths" : "lora-modules",
                    Jackson.mapper().valueToTree(adapters).toString(),
                    name);
        }
    }

    /** Of the configuration as a text only what start logs tell, too, is read. */
    private void readVllm() {
        findings.setEngine(EngineName.VLLM);
        var config = json.path("vllm_config");
        if (config.isTextual()) {
            var log = StartLog.read(name, "LLM engine (v0) with config: " + config.textValue());
            log.flags().forEach((flag, finding) -> findings.putFlag(flag, finding.value(), name));
            return;
        }
        var model = config.path("model_config");
        flag("model", model.path("model"));
        flag("max-model-len", model.path("max_model_len"));
        flag("served-model-name", model.path("served_model_name"));
        var scheduler = config.path("scheduler_config");
        flag("max-num-seqs", scheduler.path("max_num_seqs"));
        flag("max-num-batched-tokens", scheduler.path("max_num_batched_tokens"));
        flag("long-prefill-token-threshold", scheduler.path("long_prefill_token_threshold"));
        flag("long-prefill-token-threshold-adaptive", scheduler.path("long_prefill_token_threshold_adaptive"));
        flag("max-num-active-seqs", scheduler.path("max_num_active_seqs"));
        flag("max-num-queued-reqs", scheduler.path("max_num_queued_reqs"));
        flag("max-num-queued-tokens", scheduler.path("max_num_queued_tokens"));
        flag("enable-chunked-prefill", scheduler.path("enable_chunked_prefill"));
        flag("scheduling-policy", scheduler.path("policy"));
        flag("async-scheduling", scheduler.path("async_scheduling"));
        var cache = config.path("cache_config");
        fact(Fact.BLOCK_SIZE, cache.path("block_size"));
        fact(Fact.KV_BLOCKS, cache.path("num_gpu_blocks"));
        flag("enable-prefix-caching", cache.path("enable_prefix_caching"));
        flag("kv-cache-dtype", cache.path("cache_dtype"));
        flag("gpu-memory-utilization", cache.path("gpu_memory_utilization"));
        var parallel = config.path("parallel_config");
        flag("tensor-parallel-size", parallel.path("tensor_parallel_size"));
        flag("pipeline-parallel-size", parallel.path("pipeline_parallel_size"));
        flag("data-parallel-size", parallel.path("data_parallel_size"));
        flag("enable-expert-parallel", parallel.path("enable_expert_parallel"));
        var version = json.path("system_env").path("vllm_version");
        if (version.isTextual()) {
            findings.put(Fact.VERSION, version.textValue(), name);
        }
        readHardware();
    }

    /** The answer has all arguments of the server, and what its schedulers have made of them. */
    private void readSglang(JsonNode info) {
        findings.setEngine(EngineName.SGLANG);
        info.properties().forEach(field -> {
            var value = field.getValue();
            if (!value.isNull()
                    && !field.getKey().equals("max_total_num_tokens")
                    && !field.getKey().equals("version")) {
                flag(field.getKey().replace('_', '-'), value);
            }
        });
        fact(Fact.KV_TOKENS, info.path("max_total_num_tokens"));
        fact(Fact.VERSION, info.path("version"));
        var state = info.path("internal_states").path(0);
        fact(Fact.KV_TOKENS, state.path("max_total_num_tokens"));
        fact(Fact.RANK_MAX_RUNNING, state.path("effective_max_running_requests_per_dp"));
        fact(Fact.ACCEPT_LENGTH, state.path("avg_spec_accept_length"));
        readHardware();
    }

    /** Another emulation tells what it is timed as: {@code MODEL on GPU}, or {@code MODEL on N x GPU}. */
    private void readHardware() {
        String words = json.path("emulation").path("timed_as").asText("");
        if (words.contains(" on ")) {
            String[] parts = words.split(" on ", 2);
            findings.put(Fact.TIMED_AS, parts[0], name);
            String[] gpus = parts[1].split(" x ", 2);
            findings.put(Fact.GPU, gpus[gpus.length - 1], name);
            findings.put(Fact.NUM_GPUS, gpus.length == 2 ? gpus[0] : "1", name);
        }
    }

    private void fact(Fact fact, JsonNode value) {
        if (value.isValueNode() && !value.isNull()) {
            findings.put(fact, value.asText(), name);
        }
    }

    private void flag(String flag, JsonNode value) {
        if (!value.isNull() && !value.isMissingNode()) {
            findings.putFlag(flag, value.isValueNode() ? value.asText() : value.toString(), name);
        }
    }
}

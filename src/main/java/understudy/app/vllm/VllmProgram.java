package understudy.app.vllm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import understudy.app.emit.ServerProgram;
import understudy.app.flags.FlagJson;
import understudy.app.flags.FlagWriter;
import understudy.app.flags.ServedModel;
import understudy.engine.version.EngineVersions;
import understudy.json.Jackson;
import understudy.routing.Role;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/** The server {@code vllm serve}. */
public final class VllmProgram implements ServerProgram {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final FlagWriter WRITER = new FlagWriter(VllmFlags.TABLE);
    private static final String METHOD = "engine.speculative.method";
    private static final String NUM_DRAFTS = "engine.speculative.num-speculative-tokens";
    private static final String CONNECTOR = "kv-cache.transfer.kv-connector";
    private static final String FAILURE_POLICY = "kv-cache.transfer.load-failure-policy";

    @Override
    public String kind() {
        return "vllm";
    }

    @Override
    public List<String> words() {
        return List.of("vllm", "serve");
    }

    @Override
    public List<String> naming(String model) {
        return List.of(model);
    }

    @Override
    public String image() {
        return "vllm/vllm-openai:latest";
    }

    @Override
    public int port() {
        return 8000;
    }

    @Override
    public String connector() {
        return "nixl";
    }

    @Override
    public List<String> flags(Map<String, String> changed, Role role) {
        var ofOthers = EngineVersions.of(kind())
                .orElseThrow()
                .profile(changed.getOrDefault("engine.version", EngineVersions.RECORDED))
                .otherFlags();
        var flags = new ArrayList<>(WRITER.words(changed));
        flags.removeIf(
                word -> ofOthers.containsKey(word.replaceFirst("^--(no-)?", "").replaceFirst("=.*", "")));
        FlagWriter.put("data-parallel-size", changed.get("latency.data-parallel-size"), flags);
        FlagWriter.put("all2all-backend", changed.get("latency.all2all-backend"), flags);
        FlagWriter.put("moe-backend", changed.get("latency.moe-backend"), flags);
        FlagWriter.put("kv-cache-dtype", changed.get("kv-cache.kv-cache-dtype"), flags);
        FlagWriter.put("prefix-caching-hash-algo", changed.get("kv-cache.hash-algo"), flags);
        FlagWriter.put("quantization", ServedModel.quantization(changed.getOrDefault("latency.dtype", "")), flags);
        FlagWriter.putList("lora-modules", changed.get("engine.lora.lora-modules"), flags);
        if (changed.containsKey(METHOD)) {
            putJson("speculative-config", speculation(changed), flags);
        }
        if (connector().equals(changed.get(CONNECTOR))) {
            putJson("kv-transfer-config", transfer(changed), flags);
        }
        var graphs = graphs(changed);
        if (!graphs.isEmpty()) {
            putJson("compilation-config", graphs, flags);
        }
        FlagJson.kvEvents(changed).ifPresent(events -> putJson("kv-events-config", events, flags));
        return flags;
    }

    private static void putJson(String flag, ObjectNode value, List<String> flags) {
        flags.add("--" + flag + "=" + value);
    }

    private static ObjectNode speculation(Map<String, String> changed) {
        var speculation = JSON.createObjectNode()
                .put("method", changed.getOrDefault(METHOD, "").replace('-', '_'));
        return speculation.put("num_speculative_tokens", Integer.parseInt(changed.getOrDefault(NUM_DRAFTS, "3")));
    }

    private static ObjectNode graphs(Map<String, String> changed) {
        var graphs = JSON.createObjectNode();
        String mode = changed.get("engine.cudagraph-mode");
        if (mode != null) {
            graphs.put("cudagraph_mode", mode.toUpperCase(Locale.ROOT).replace('-', '_'));
        }
        String sizes = changed.get("engine.cudagraph-capture-sizes");
        if (sizes != null) {
            graphs.putRawValue("cudagraph_capture_sizes", new RawValue(sizes));
        }
        return graphs;
    }

    private static ObjectNode transfer(Map<String, String> changed) {
        var transfer =
                JSON.createObjectNode().put("kv_connector", "NixlConnector").put("kv_role", "kv_both");
        String policy = changed.get(FAILURE_POLICY);
        return policy == null ? transfer : transfer.put("kv_load_failure_policy", policy);
    }

    @Override
    public Map<String, String> environment(Map<String, String> changed) {
        var environment = new LinkedHashMap<String, String>();
        String seed = changed.get("kv-cache.hash-seed");
        if (seed != null && changed.containsKey("kv-cache.hash-algo")) {
            environment.put("PYTHONHASHSEED", seed);
        }
        return environment;
    }

    @Override
    public Section read(List<String> words, Map<String, String> environment) {
        var settings = VllmSettings.of(words, environment).settings();
        return new ScenarioFile(environment).load(VllmSettings.SCENARIO, settings);
    }
}

package understudy.app.sglang;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import understudy.app.emit.ServerProgram;
import understudy.app.flags.FlagJson;
import understudy.app.flags.FlagWriter;
import understudy.app.flags.ServedModel;
import understudy.routing.Role;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/** The server {@code python -m sglang.launch_server}. */
public final class SglangProgram implements ServerProgram {
    private static final FlagWriter WRITER = new FlagWriter(SglangFlags.TABLE);
    private static final String ENGINE = "engine.sglang.";
    private static final String TENSOR_PARALLEL = "latency.tensor-parallel-size";
    private static final String DATA_PARALLEL = "latency.data-parallel-size";
    private static final String EXPERT_PARALLEL = "latency.enable-expert-parallel";

    /** Settings whose values have underscores on the command line. */
    private static final List<String> POLICIES =
            List.of("hicache-write-policy", "hicache-storage-backend", "hicache-storage-prefetch-policy");

    @Override
    public String kind() {
        return "sglang";
    }

    @Override
    public List<String> words() {
        return List.of("python3", "-m", "sglang.launch_server");
    }

    @Override
    public List<String> naming(String model) {
        return List.of("--model-path=" + model);
    }

    @Override
    public String image() {
        return "lmsysorg/sglang:latest";
    }

    @Override
    public int port() {
        return 30000;
    }

    @Override
    public String connector() {
        return "bootstrap";
    }

    @Override
    public List<String> flags(Map<String, String> changed, Role role) {
        var settings = new LinkedHashMap<>(changed);
        int numRanks = Integer.parseInt(settings.getOrDefault(DATA_PARALLEL, "1"));
        int numGpus = numRanks * Integer.parseInt(settings.getOrDefault(TENSOR_PARALLEL, "1"));
        if (numGpus > 1) {
            settings.put(TENSOR_PARALLEL, String.valueOf(numGpus));
        }
        var flags = new ArrayList<>(WRITER.words(settings));
        if (numRanks > 1) {
            flags.add("--dp-size=" + numRanks);
            flags.add("--enable-dp-attention");
        }
        if ("true".equals(changed.get(EXPERT_PARALLEL))) {
            flags.add("--ep-size=" + numGpus);
        }
        for (String policy : POLICIES) {
            String value = changed.get(ENGINE + policy);
            FlagWriter.put(policy, value == null ? null : value.replace('-', '_'), flags);
        }
        String algorithm = changed.get(ENGINE + "speculative-algorithm");
        FlagWriter.put("speculative-algorithm", algorithm == null ? null : algorithm.toUpperCase(Locale.ROOT), flags);
        FlagWriter.put("kv-cache-dtype", changed.get("kv-cache.kv-cache-dtype"), flags);
        FlagWriter.put("quantization", ServedModel.quantization(changed.getOrDefault("latency.dtype", "")), flags);
        FlagWriter.putList("lora-paths", changed.get(ENGINE + "lora-paths"), flags);
        if (role != Role.BOTH) {
            flags.add("--disaggregation-mode=" + Section.nameOf(role));
        }
        FlagJson.kvEvents(changed).ifPresent(events -> flags.add("--kv-events-config=" + events));
        return flags;
    }

    @Override
    public Map<String, String> environment(Map<String, String> changed) {
        var environment = new LinkedHashMap<String, String>();
        SglangCommandLine.VARIABLES.forEach((variable, key) -> {
            String value = changed.get(ENGINE + key);
            if (value != null && !value.equals("none")) {
                environment.put(variable, value);
            }
        });
        return environment;
    }

    @Override
    public Section read(List<String> words, Map<String, String> environment) {
        var settings = SglangCommandLine.of(words, environment).settings();
        return new ScenarioFile(environment).load(SglangCommandLine.SCENARIO, settings);
    }
}

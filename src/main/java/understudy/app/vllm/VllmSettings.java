package understudy.app.vllm;

import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.scenario.keys.ScenarioException;

/**
 * Settings of a scenario that words behind {@code vllm serve} stand for.
 *
 * @param settings values by key
 * @param warnings what has no effect, and what was assumed, a line each
 */
public record VllmSettings(Map<String, String> settings, List<String> warnings) {
    /** Model of vLLM's when none is named. */
    private static final String DEFAULT_MODEL = "Qwen/Qwen3-0.6B";

    private static final String TOKENIZER_FAILURE = "--set server.tokenizer";

    private static final Set<String> KV_CACHE_DTYPES = Set.of("auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2");
    private static final Set<String> HASHES = Set.of("sha256_cbor", "xxhash_cbor");
    private static final Set<String> SIXTEEN_BITS = Set.of("auto", "half", "float16", "bfloat16");
    private static final Set<String> BACKENDS =
            Set.of("allgather_reducescatter", "deepep_high_throughput", "deepep_low_latency", "flashinfer_all2allv");

    /**
     * Reads the words, and the environment variables {@code VLLM_API_KEY}, {@code PYTHONHASHSEED} and {@code
     * VLLM_NIXL_SIDE_CHANNEL_PORT}.
     *
     * @param words behind {@code vllm serve}
     * @throws ScenarioException if a value cannot be used
     */
    public static VllmSettings of(List<String> words, Map<String, String> environment) {
        var arguments = VllmArguments.parse(words);
        var settings = new LinkedHashMap<String, String>();
        var warnings = new ArrayList<>(arguments.warnings());
        Flags.ALL.forEach(flag -> flag.setting()
                .ifPresent(setting -> arguments
                        .last(flag.name())
                        .filter(value -> !value.isBlank())
                        .ifPresent(value ->
                                settings.put(setting, flag.kind() == Flag.Kind.SECONDS ? value + "s" : value))));
        new Special(arguments, environment, settings, warnings).put();
        return new VllmSettings(settings, warnings);
    }

    /**
     * Reads the scenario that these settings make of a file.
     *
     * @param stronger settings that go over them
     * @throws ScenarioException if a value cannot be used, which the flag is named for
     */
    public Scenario over(String file, Map<String, String> environment, Map<String, String> stronger) {
        var all = new LinkedHashMap<>(settings);
        all.putAll(stronger);
        return namingFlags(() -> Scenario.read(new ScenarioFile(environment).load(file, all)));
    }

    /** Reads something from such a scenario, and has a failure name the flag in place of the setting. */
    public static <T> T namingFlags(Supplier<T> reader) {
        try {
            return reader.get();
        } catch (ScenarioException e) {
            throw named(e);
        }
    }

    private static ScenarioException named(ScenarioException failure) {
        String message = String.valueOf(failure.getMessage());
        if (message.startsWith(TOKENIZER_FAILURE)) {
            String why = message.substring(TOKENIZER_FAILURE.length());
            return new ScenarioException("--tokenizer" + why + " (--skip-tokenizer-init goes on without it)");
        }
        for (var flag : Flags.ALL) {
            String setting = flag.setting().orElse("");
            if (!setting.isEmpty() && message.startsWith("--set " + setting + ":")) {
                return new ScenarioException(
                        "--" + flag.name() + message.substring("--set ".length() + setting.length()));
            }
            if (message.startsWith("--set " + flag.description() + ".")) {
                return new ScenarioException("--" + flag.name() + message.substring(message.indexOf(':')));
            }
        }
        return failure;
    }

    /** Flags whose value is no setting as it is. */
    private record Special(
            VllmArguments arguments,
            Map<String, String> environment,
            Map<String, String> settings,
            List<String> warnings) {

        void put() {
            var names = arguments.all("served-model-name").stream()
                    .filter(name -> !name.isBlank())
                    .toList();
            String model = arguments.model().orElse(DEFAULT_MODEL);
            settings.put("server.served-model-name", names.isEmpty() ? model : String.join(",", names));
            ServedModel.put(model, names, settings, warnings);
            putFormats();
            putParallelism();
            putKeysAndHashes();
            putAdapters();
            putTokenizer(model);
            putChatTemplate();
            var json = new JsonFlags(arguments, environment, settings, warnings);
            json.put();
            new MediaFlags(arguments, json, settings).put(model);
            new TaskFlags(arguments, settings).put(model);
        }

        private void putFormats() {
            arguments
                    .last("quantization")
                    .ifPresent(value -> ServedModel.dtype(value)
                            .ifPresentOrElse(
                                    dtype -> settings.put("latency.dtype", dtype),
                                    () -> warnNoEffect("quantization", value)));
            arguments.last("dtype").map(dtype -> dtype.toLowerCase(Locale.ROOT)).ifPresent(dtype -> {
                if (dtype.equals("float") || dtype.equals("float32")) {
                    settings.put("latency.dtype", "fp32");
                } else if (!SIXTEEN_BITS.contains(dtype)) {
                    warnNoEffect("dtype", dtype);
                }
            });
            putIfKnown("kv-cache-dtype", KV_CACHE_DTYPES, "kv-cache.kv-cache-dtype");
        }

        private void putParallelism() {
            arguments.last("data-parallel-size").filter(size -> !size.isBlank()).ifPresent(size -> {
                settings.put("cluster.replicas", size);
                settings.put("latency.data-parallel-size", size);
            });
            putIfKnown("all2all-backend", BACKENDS, "latency.all2all-backend");
        }

        private void putKeysAndHashes() {
            var keys = arguments.all("api-key");
            String key = keys.isEmpty() ? environment.getOrDefault("VLLM_API_KEY", "") : keys.get(0);
            if (!key.isEmpty()) {
                settings.put("server.api-key", key);
            }
            putIfKnown("prefix-caching-hash-algo", HASHES, "kv-cache.hash-algo");
            String seed = environment.getOrDefault("PYTHONHASHSEED", "");
            if (settings.containsKey("kv-cache.hash-algo") && !seed.isEmpty()) {
                settings.put("kv-cache.hash-seed", seed);
            }
        }

        private void putAdapters() {
            var modules = arguments.all("lora-modules");
            if (!modules.isEmpty()) {
                settings.put(
                        "engine.lora.lora-modules",
                        modules.stream()
                                .map(JsonFlags::adapter)
                                .map(name -> '"' + name + '"')
                                .collect(Collectors.joining(",", "[", "]")));
            }
        }

        /** Tokenizers are read from files alone; without one, prompts have the tokens of server.tokenizer as it is. */
        private void putTokenizer(String model) {
            if (arguments.last("skip-tokenizer-init").filter("true"::equals).isPresent()) {
                return;
            }
            String asked = arguments.last("tokenizer").orElse("");
            String path = asked.isBlank() ? model : asked;
            if (ServedModel.hasTokenizer(path)) {
                settings.put("server.tokenizer", path);
            } else if (!asked.isBlank()) {
                warnNoEffect("tokenizer", asked);
            }
        }

        /** Templates that come with vLLM's image are not here, and no reason not to start. */
        private void putChatTemplate() {
            arguments.last("chat-template").filter(value -> !value.isBlank()).ifPresent(value -> {
                if (value.contains("{") || new File(value).isFile()) {
                    settings.put("server.chat-template", value);
                } else {
                    warnNoEffect("chat-template", value);
                }
            });
        }

        private void putIfKnown(String flag, Set<String> known, String setting) {
            arguments.last(flag).filter(value -> !value.isBlank()).ifPresent(value -> {
                if (known.contains(value)) {
                    settings.put(setting, value);
                } else {
                    warnNoEffect(flag, value);
                }
            });
        }

        private void warnNoEffect(String flag, String value) {
            warnings.add("--" + flag + " " + value + " has no effect here");
        }
    }
}

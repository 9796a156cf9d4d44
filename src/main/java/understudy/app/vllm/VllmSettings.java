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
import understudy.app.flags.FlagArguments;
import understudy.app.flags.FlagScenario;
import understudy.app.flags.ServedModel;
import understudy.latency.Parallelism;
import understudy.scenario.Scenario;
import understudy.settings.ScenarioException;

/**
 * Settings of a scenario that words behind {@code vllm serve} stand for.
 *
 * @param settings values by key
 * @param warnings flags without effect, and assumptions, a line each
 * @param isGuessed whether the model is not known, and has the timing of one of its size
 * @param isHeadless whether the process is to be a worker of several, which serves nothing itself
 */
public record VllmSettings(Map<String, String> settings, List<String> warnings, boolean isGuessed, boolean isHeadless) {
    /** The scenario that the flags are laid over, unless the user names another. */
    public static final String SCENARIO = "conf/vllm.conf";

    /** Model of vLLM's when none is named. */
    private static final String DEFAULT_MODEL = "Qwen/Qwen3-0.6B";

    private static final String TRUE = "true";

    private static final FlagScenario SCENARIOS = new FlagScenario(
            VllmFlags.TABLE,
            SCENARIO,
            "raise --tensor-parallel-size (-tp) or --gpu-memory-utilization, lower --max-model-len",
            " (--skip-tokenizer-init goes on without it)");

    private static final Set<String> KV_CACHE_DTYPES = Set.of("auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2");
    private static final Set<String> HASHES = Set.of("sha256_cbor", "xxhash_cbor");
    private static final Set<String> SIXTEEN_BITS = Set.of("auto", "half", "float16", "bfloat16");
    private static final Set<String> QUIET_LEVELS = Set.of("warning", "error", "critical");
    private static final Set<String> BACKENDS =
            Set.of("allgather_reducescatter", "deepep_high_throughput", "deepep_low_latency", "flashinfer_all2allv");

    /**
     * Reads the words, and the environment variables {@code VLLM_API_KEY}, {@code VLLM_SERVER_DEV_MODE}, {@code
     * PYTHONHASHSEED} and {@code VLLM_NIXL_SIDE_CHANNEL_PORT}.
     *
     * @param words behind {@code vllm serve}
     * @throws ScenarioException if a value cannot be used
     */
    public static VllmSettings of(List<String> words, Map<String, String> environment) {
        return of(words, environment, SCENARIO);
    }

    /**
     * Reads the words that go over a scenario, whose model they leave unless they name one.
     *
     * @param file path of the scenario
     */
    public static VllmSettings of(List<String> words, Map<String, String> environment, String file) {
        var arguments = VllmFlags.parse(words);
        var settings = new LinkedHashMap<String, String>();
        var warnings = new ArrayList<>(arguments.warnings());
        arguments.putSettings(settings);
        boolean isGuessed = new Special(arguments, environment, settings, warnings).put(file.equals(SCENARIO));
        boolean isHeadless = arguments.isOn("headless");
        return new VllmSettings(settings, warnings, isGuessed, isHeadless);
    }

    /** Returns the scenario of {@link FlagScenario#start}. */
    public Scenario over(String file, Map<String, String> environment, Map<String, String> stronger) {
        return start(file, environment, stronger).scenario();
    }

    /** Reads the scenario that these settings make of a file. */
    public FlagScenario.Served start(String file, Map<String, String> environment, Map<String, String> stronger) {
        return SCENARIOS.start(settings, isGuessed, file, environment, stronger);
    }

    /** Reads something from such a scenario, and has a failure name the flag in place of the setting. */
    public static <T> T namingFlags(Supplier<T> reader) {
        return SCENARIOS.namingFlags(reader);
    }

    /** Flags whose value is no setting as it is. */
    private record Special(
            FlagArguments arguments,
            Map<String, String> environment,
            Map<String, String> settings,
            List<String> warnings) {

        /** Returns whether the model has the timing of another. */
        boolean put(boolean hasDefaultModel) {
            var names = arguments.all("served-model-name").stream()
                    .filter(name -> !name.isBlank())
                    .toList();
            String model = VllmFlags.model(arguments, DEFAULT_MODEL);
            settings.put("server.served-model-name", names.isEmpty() ? model : String.join(",", names));
            putParallelism();
            boolean isGuessed =
                    (hasDefaultModel || !VllmFlags.model(arguments, "").isEmpty()) && !putTiming(model, names);
            putFormats();
            putServer();
            putKeysAndHashes();
            putAdapters();
            putTokenizer(model);
            putChatTemplate();
            putSurface();
            var json = new JsonFlags(arguments, environment, settings, warnings);
            json.put();
            new MediaFlags(arguments, json, settings).put(model);
            new TaskFlags(arguments, settings).put(model);
            return isGuessed;
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

        /** A model that is not known has the timing of the one that the environment names. */
        private boolean putTiming(String model, List<String> names) {
            var timing = new LinkedHashMap<String, String>();
            boolean isKnown = ServedModel.put(model, names, parallelism(), timing, warnings);
            if (isKnown || !environment.containsKey("UNDERSTUDY_LATENCY_LLM")) {
                settings.putAll(timing);
            }
            return isKnown;
        }

        private Parallelism parallelism() {
            boolean isShared =
                    settings.getOrDefault("latency.enable-expert-parallel", "").equals(TRUE);
            return new Parallelism(
                    size("latency.tensor-parallel-size"),
                    size("latency.data-parallel-size"),
                    isShared,
                    Parallelism.All2AllBackend.ALLGATHER_REDUCESCATTER);
        }

        /** Returns a setting as a number, or 1; a value that is no number is refused where the setting is read. */
        private int size(String setting) {
            String value = settings.getOrDefault(setting, "1");
            return value.matches("[1-9]\\d{0,6}") ? Integer.parseInt(value) : 1;
        }

        /** With a Unix socket, vLLM has no port. */
        private void putServer() {
            if (!settings.getOrDefault("server.uds", "").isEmpty()) {
                settings.put("server.host", "127.0.0.1");
                settings.put("server.port", "0");
            }
            arguments
                    .last("show-hidden-metrics-for-version")
                    .filter(version -> !version.isBlank())
                    .ifPresent(version -> settings.put("server.metrics.legacy-names", TRUE));
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
            if (arguments.isOn("skip-tokenizer-init")) {
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

        private void putSurface() {
            boolean isQuiet = arguments
                    .last("uvicorn-log-level")
                    .filter(level -> QUIET_LEVELS.contains(level.toLowerCase(Locale.ROOT)))
                    .isPresent();
            if (isQuiet || arguments.isOn("disable-uvicorn-access-log")) {
                settings.put("server.access-log", "false");
            }
            if (arguments.isOn("disable-fastapi-docs")) {
                settings.put("server.docs", "false");
            }
            if (environment.getOrDefault("VLLM_SERVER_DEV_MODE", "").equals("1")) {
                settings.put("server.dev-mode", "true");
            }
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

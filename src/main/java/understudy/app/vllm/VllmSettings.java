package understudy.app.vllm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import understudy.app.flags.Flag;
import understudy.app.flags.FlagArguments;
import understudy.app.flags.FlagScenario;
import understudy.app.flags.ServerFlags;
import understudy.latency.tables.MoeBackend;
import understudy.scenario.Scenario;
import understudy.settings.ScenarioException;

/**
 * Settings of a scenario that words behind {@code vllm serve} stand for.
 *
 * @param settings values by key
 * @param warnings flags without effect, and assumptions, a line each
 * @param flags names of those that are given, without dashes
 * @param isGuessed whether the model is not known, and has the timing of one of its size
 * @param isHeadless whether the process is to be a worker of several, which serves nothing itself
 */
public record VllmSettings(
        Map<String, String> settings, List<String> warnings, Set<String> flags, boolean isGuessed, boolean isHeadless) {
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
    private static final Set<String> QUIET_LEVELS = Set.of("warning", "error", "critical");
    private static final Set<String> BACKENDS =
            Set.of("allgather_reducescatter", "deepep_high_throughput", "deepep_low_latency", "flashinfer_all2allv");
    private static final Set<String> MOE_BACKENDS =
            Arrays.stream(MoeBackend.values()).map(MoeBackend::id).collect(Collectors.toUnmodifiableSet());

    /**
     * Reads the words, and the environment variables {@code VLLM_API_KEY}, {@code VLLM_SERVER_DEV_MODE}, {@code
     * VLLM_ENABLE_SCALE_OUT_ENDPOINTS}, {@code PYTHONHASHSEED} and {@code VLLM_NIXL_SIDE_CHANNEL_PORT}.
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
        var server = new ServerFlags(arguments, environment, settings, warnings);
        boolean isGuessed = new Special(arguments, environment, settings, warnings, server).put(file.equals(SCENARIO));
        boolean isHeadless = arguments.isOn("headless");
        return new VllmSettings(settings, warnings, arguments.names(), isGuessed, isHeadless);
    }

    /** Returns the values of words by flag, the model being one also without its flag. */
    public static Map<String, List<String>> flags(List<String> words) {
        var arguments = VllmFlags.parse(words);
        var flags = new LinkedHashMap<>(arguments.values());
        arguments.positional().ifPresent(model -> flags.put("model", List.of(model)));
        return flags;
    }

    /** Returns the flag of exactly this name, without dashes in front. */
    public static Optional<Flag> flag(String name) {
        return VllmFlags.TABLE.named(name);
    }

    /** Returns the scenario of {@link FlagScenario#start}. */
    public Scenario over(String file, Map<String, String> environment, Map<String, String> stronger) {
        return start(file, environment, stronger).scenario();
    }

    /** Reads the scenario that these settings make of a file. */
    public FlagScenario.Served start(String file, Map<String, String> environment, Map<String, String> stronger) {
        return SCENARIOS.start(settings, flags, isGuessed, file, environment, stronger);
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
            List<String> warnings,
            ServerFlags server) {

        /** Returns whether the model has the timing of another. */
        boolean put(boolean hasDefaultModel) {
            var names = arguments.all("served-model-name").stream()
                    .filter(name -> !name.isBlank())
                    .toList();
            String model = VllmFlags.model(arguments, DEFAULT_MODEL);
            settings.put("server.served-model-name", names.isEmpty() ? model : String.join(",", names));
            putParallelism();
            boolean isGuessed =
                    (hasDefaultModel || !VllmFlags.model(arguments, "").isEmpty()) && !server.putTiming(model, names);
            putFormats();
            putServer();
            putKeysAndHashes();
            putAdapters();
            server.putTokenizer("tokenizer", model);
            server.putChatTemplate();
            putSurface();
            var json = new JsonFlags(arguments, environment, settings, warnings);
            json.put();
            new MediaFlags(arguments, json, settings).put(model);
            new TaskFlags(arguments, settings).put(model);
            return isGuessed;
        }

        private void putFormats() {
            server.putQuantization();
            arguments
                    .last("dtype")
                    .filter(dtype -> !server.putDtype(dtype))
                    .ifPresent(dtype -> server.warnNoEffect("dtype", dtype.toLowerCase(Locale.ROOT)));
            server.putIfKnown("kv-cache-dtype", KV_CACHE_DTYPES, "kv-cache.kv-cache-dtype");
        }

        private void putParallelism() {
            arguments.last("data-parallel-size").filter(size -> !size.isBlank()).ifPresent(size -> {
                settings.put("cluster.replicas", size);
                settings.put("latency.data-parallel-size", size);
            });
            server.putIfKnown("all2all-backend", BACKENDS, "latency.all2all-backend");
            server.putIfKnown("moe-backend", MOE_BACKENDS, "latency.moe-backend");
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
            server.putIfKnown("prefix-caching-hash-algo", HASHES, "kv-cache.hash-algo");
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
            if (arguments.isOn("enable-scale-out")
                    || environment
                            .getOrDefault("VLLM_ENABLE_SCALE_OUT_ENDPOINTS", "")
                            .equals("1")) {
                settings.put("server.absent-endpoints", "[]");
            }
            if (environment.getOrDefault("VLLM_SERVER_DEV_MODE", "").equals("1")) {
                settings.put("server.dev-mode", "true");
            }
        }
    }
}

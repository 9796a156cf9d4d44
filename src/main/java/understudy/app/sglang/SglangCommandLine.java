package understudy.app.sglang;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import understudy.app.flags.Flag;
import understudy.app.flags.FlagArguments;
import understudy.app.flags.FlagJson;
import understudy.app.flags.FlagScenario;
import understudy.app.flags.ServerFlags;
import understudy.settings.ScenarioException;

/**
 * Settings of a scenario that words behind {@code sglang serve} or {@code python -m sglang.launch_server} stand for.
 *
 * @param settings values by key
 * @param warnings flags without effect, and assumptions, a line each
 * @param flags names of those that are given, without dashes
 * @param isGuessed whether the model is not known, and has the timing of one of its size
 * @param isWorker whether the process is one of another node than the first, which serves nothing itself
 */
public record SglangCommandLine(
        Map<String, String> settings, List<String> warnings, Set<String> flags, boolean isGuessed, boolean isWorker) {
    /** The scenario that the flags are laid over. */
    public static final String SCENARIO = "conf/sglang.conf";

    private static final FlagScenario SCENARIOS = new FlagScenario(
            SglangFlags.TABLE,
            SCENARIO,
            "raise --tp-size or --mem-fraction-static, lower --max-running-requests if it has states",
            " (--skip-tokenizer-init goes on without it)");

    private static final String TENSOR_PARALLEL = "latency.tensor-parallel-size";
    private static final String MODEL = "model-path";
    private static final String ENGINE = "engine.sglang.";
    private static final String ACCEPTED_LENGTH = ENGINE + "simulate-acc-len";
    private static final String ACCEPTED_LENGTH_VARIABLE = "SGLANG_SIMULATE_ACC_LEN";

    /** Variables of SGLang whose value is a setting's as it is. */
    static final Map<String, String> VARIABLES = Map.of(
            "SGLANG_INIT_NEW_TOKEN_RATIO",
            "init-new-token-ratio",
            "SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR",
            "min-new-token-ratio-factor",
            "SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS",
            "new-token-ratio-decay-steps",
            "SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION",
            "clip-max-new-tokens-estimation",
            "SGLANG_SWA_EVICTION_INTERVAL",
            "swa-eviction-interval",
            ACCEPTED_LENGTH_VARIABLE,
            "simulate-acc-len");

    private static final String STORAGE = "hicache-storage-backend";

    /** Settings that mean something only to engines with a role. */
    private static final List<String> ONLY_OF_ROLES =
            List.of("disaggregation-decode-polling-interval", "num-reserved-decode-tokens");

    /** Settings that engines with a role do not have here. */
    private static final List<String> NOT_OF_ROLES = List.of(
            "enable-hierarchical-cache",
            STORAGE,
            "hicache-storage-prefetch-policy",
            "enable-lora",
            "enable-prefill-delayer",
            "lora-paths",
            "prefill-decode-interval",
            "speculative-algorithm");

    private static final Map<String, String> ROOM_TIMEOUTS = Map.of(
            "SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT",
            "bootstrap-timeout",
            "SGLANG_DISAGGREGATION_WAITING_TIMEOUT",
            "waiting-timeout");

    /** Keys of the storage's extra configuration that change what is decided, with the units of their values. */
    private static final Map<String, String> PREFETCH_KEYS =
            Map.of("prefetch_threshold", "", "prefetch_timeout_base", "s", "prefetch_timeout_per_ki_token", "s");

    private static final String WAITING_TIMEOUT = "SGLANG_REQ_WAITING_TIMEOUT";
    private static final Set<String> KV_CACHE_DTYPES = Set.of("auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2");
    private static final Set<String> QUIET_LEVELS = Set.of("warning", "error", "critical");

    /**
     * Reads the words, and the environment variables that change what the scheduler decides.
     *
     * @param words flags; the first word may be the model, as behind {@code sglang serve}
     * @throws ScenarioException if a flag is unknown, or a value cannot be used
     */
    public static SglangCommandLine of(List<String> words, Map<String, String> environment) {
        var arguments = FlagArguments.parse(SglangFlags.TABLE, words, "");
        var settings = new LinkedHashMap<String, String>();
        var warnings = new ArrayList<>(arguments.warnings());
        arguments.putSettings(settings);
        var server = new ServerFlags(arguments, environment, settings, warnings);
        boolean isGuessed = new Special(arguments, environment, settings, warnings, server).put();
        boolean isWorker =
                arguments.given("node-rank").filter(rank -> !rank.equals("0")).isPresent();
        return new SglangCommandLine(settings, warnings, arguments.names(), isGuessed, isWorker);
    }

    /** Returns the values of words by flag, the model being one also without its flag. */
    public static Map<String, List<String>> flags(List<String> words) {
        var arguments = FlagArguments.parse(SglangFlags.TABLE, words, "");
        var flags = new LinkedHashMap<>(arguments.values());
        arguments.positional().ifPresent(model -> flags.put("model-path", List.of(model)));
        return flags;
    }

    /** Returns the flag of exactly this name, without dashes in front. */
    public static Optional<Flag> flag(String name) {
        return SglangFlags.TABLE.named(name);
    }

    /** Reads the scenario that these settings make of {@link #SCENARIO}. */
    public FlagScenario.Served start(Map<String, String> environment) {
        return start(SCENARIO, environment, Map.of());
    }

    /**
     * Reads the scenario that these settings make of another one.
     *
     * @param stronger settings over these
     */
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
        boolean put() {
            String model = model();
            settings.putIfAbsent("server.served-model-name", model);
            putParallelism();
            boolean isKnown =
                    server.putTiming(model, List.of(settings.getOrDefault("server.served-model-name", model)));
            putVariables();
            putFormats();
            putSpeculation();
            putCache();
            putAdapters();
            putRole();
            putSurface(model);
            return !isKnown;
        }

        private String model() {
            var model = arguments.positional().or(() -> arguments.given(MODEL));
            return model.orElseThrow(() -> new ScenarioException(
                    "launch_server.py: error: the following arguments are required: --model-path/--model"));
        }

        private void putParallelism() {
            arguments.given("dp-size").ifPresent(size -> settings.put("cluster.replicas", size));
            if (arguments.isOn("enable-dp-attention") && !role().equals("null")) {
                settings.remove("cluster.replicas");
                warnings.add("--enable-dp-attention has no effect here with --disaggregation-mode: one replica has the"
                        + " GPUs of all ranks");
            } else if (arguments.isOn("enable-dp-attention")) {
                putDpAttention();
            }
            arguments
                    .given("ep-size")
                    .filter(size -> !size.equals("1"))
                    .ifPresent(size -> settings.put("latency.enable-expert-parallel", "true"));
            arguments.given("load-balance-method").ifPresent(method -> {
                switch (method) {
                    case "auto", "round_robin" -> settings.put("router.policy", "round-robin");
                    case "total_requests", "shortest_queue" -> settings.put("router.policy", "least-outstanding");
                    default -> server.warnNoEffect("load-balance-method", method);
                }
            });
        }

        /** {@code --tp-size} counts all GPUs, of which each rank has its part for attention. */
        private void putDpAttention() {
            int numRanks = server.size("cluster.replicas");
            int numGpus = server.size(TENSOR_PARALLEL);
            if (numGpus % numRanks != 0) {
                throw new ScenarioException(
                        "--dp-size " + numRanks + ": must divide --tp-size " + numGpus + " with --enable-dp-attention");
            }
            settings.put("latency.data-parallel-size", String.valueOf(numRanks));
            settings.put(TENSOR_PARALLEL, String.valueOf(numGpus / numRanks));
        }

        private String role() {
            return arguments.given("disaggregation-mode").orElse("null");
        }

        /** A server with a role has all its workers in one group, and meets those of other processes in rooms. */
        private void putRole() {
            String role = role();
            if (role.equals("null")) {
                for (String key : ONLY_OF_ROLES) {
                    settings.remove(ENGINE + key);
                }
                return;
            }
            if (!role.equals("prefill") && !role.equals("decode")) {
                throw new ScenarioException("launch_server.py: error: argument --disaggregation-mode: invalid choice: '"
                        + role + "' (choose from null, prefill, decode)");
            }
            if (role.equals("prefill")) {
                settings.remove(ENGINE + "disaggregation-decode-polling-interval");
            }
            for (String flag : NOT_OF_ROLES) {
                if (settings.remove(ENGINE + flag) != null) {
                    warnings.add("--" + flag + " has no effect here with --disaggregation-mode");
                }
            }
            PREFETCH_KEYS.keySet().forEach(key -> settings.remove(ENGINE + key.replace('_', '-')));
            String numReplicas = Objects.requireNonNullElse(settings.remove("cluster.replicas"), "1");
            settings.put(
                    "cluster.groups", "[{ name = " + role + ", role = " + role + ", replicas = " + numReplicas + " }]");
            settings.put("kv-cache.transfer.kv-connector", "bootstrap");
            settings.put(
                    "server.side-channel-port",
                    arguments.given("disaggregation-bootstrap-port").orElse("8998"));
            ROOM_TIMEOUTS.forEach((variable, key) -> {
                String seconds = environment.getOrDefault(variable, "");
                if (!seconds.isBlank()) {
                    settings.put("kv-cache.transfer." + key, seconds + "s");
                }
            });
        }

        /** An adapter is a path, which is also its name, or name=path, or both in a JSON object. */
        private void putAdapters() {
            var paths = arguments.all("lora-paths");
            if (!paths.isEmpty()) {
                settings.put(ENGINE + "enable-lora", "true");
                settings.put(
                        ENGINE + "lora-paths",
                        paths.stream()
                                .map(Special::adapter)
                                .map(name -> '"' + name + '"')
                                .collect(Collectors.joining(",", "[", "]")));
            }
        }

        private static String adapter(String text) {
            if (text.startsWith("{")) {
                var json = FlagJson.parse("lora-paths", text);
                if (!json.path("lora_name").isTextual()) {
                    throw new ScenarioException("--lora-paths " + text + ": has no lora_name");
                }
                return json.path("lora_name").asText() + "="
                        + json.path("lora_path").asText();
            }
            return text.contains("=") ? text : text + "=" + text;
        }

        private void putVariables() {
            VARIABLES.forEach((variable, key) -> {
                String value = environment.getOrDefault(variable, "");
                if (!value.isBlank()) {
                    settings.put(ENGINE + key, value);
                }
            });
            String seconds = environment.getOrDefault(WAITING_TIMEOUT, "");
            if (!seconds.isBlank()) {
                // Of seconds that are not positive SGLang waits for ever.
                settings.put(ENGINE + "req-waiting-timeout", seconds.startsWith("-") ? "off" : seconds + "s");
            }
        }

        private void putFormats() {
            server.putQuantization();
            arguments.given("dtype").filter(dtype -> !server.putDtype(dtype)).ifPresent(dtype -> {
                throw new ScenarioException("launch_server.py: error: argument --dtype: invalid choice: '" + dtype
                        + "' (choose from auto, half, float16, bfloat16, float, float32)");
            });
            server.putIfKnown("kv-cache-dtype", KV_CACHE_DTYPES, "kv-cache.kv-cache-dtype");
        }

        private void putSpeculation() {
            var algorithm = arguments.given("speculative-algorithm");
            if (algorithm.isEmpty()) {
                return;
            }
            String name = algorithm.get().toLowerCase(Locale.ROOT);
            if (name.equals("none")) {
                return;
            }
            // NEXTN is another name of EAGLE's, for heads that come with a model.
            boolean isKnown = name.equals("eagle") || name.equals("eagle3");
            settings.put(ENGINE + "speculative-algorithm", isKnown ? name : "eagle");
            if (!isKnown && !name.equals("nextn")) {
                warnings.add("--speculative-algorithm " + algorithm.get() + " is not known here, and counts as EAGLE");
            }
            if (!settings.containsKey(ACCEPTED_LENGTH)
                    && !environment.containsKey("UNDERSTUDY_ENGINE_SGLANG_SIMULATE_ACC_LEN")) {
                settings.put(ACCEPTED_LENGTH, "1.5");
                warnings.add(
                        "--speculative-algorithm: how many drafts are accepted is not known, and assumed to be one in"
                                + " two steps; set " + ACCEPTED_LENGTH_VARIABLE);
            }
        }

        /** Without HiCache SGLang has no storage, whatever is said of it. */
        private void putStorage() {
            var backend = arguments.given(STORAGE);
            if (backend.isEmpty()) {
                return;
            }
            if (!arguments.isOn("enable-hierarchical-cache")) {
                warnings.add("--" + STORAGE + " has no effect without --enable-hierarchical-cache");
                return;
            }
            settings.put(ENGINE + STORAGE, backend.get());
            arguments
                    .given("hicache-storage-prefetch-policy")
                    .ifPresent(policy ->
                            settings.put(ENGINE + "hicache-storage-prefetch-policy", policy.replace('_', '-')));
            String flag = STORAGE + "-extra-config";
            if (arguments.given(flag).filter(text -> text.startsWith("@")).isPresent()) {
                warnings.add("--" + flag + " has no effect here with a file");
                return;
            }
            var extra = FlagJson.object(arguments, flag);
            PREFETCH_KEYS.forEach((key, unit) -> {
                if (extra.hasNonNull(key)) {
                    settings.put(ENGINE + key.replace('_', '-'), extra.get(key).asText() + unit);
                }
            });
        }

        private void putCache() {
            arguments
                    .given("hicache-write-policy")
                    .ifPresent(policy -> settings.put(ENGINE + "hicache-write-policy", policy.replace('_', '-')));
            putStorage();
            var events = FlagJson.object(arguments, "kv-events-config");
            if (!events.isEmpty()) {
                settings.put("kv-cache.kv-events.enable-kv-cache-events", "true");
                settings.put("kv-cache.kv-events.format", "array");
                FlagJson.putKvEvents(events, settings);
            }
        }

        private void putSurface(String model) {
            String level = arguments
                    .given("log-level-http")
                    .or(() -> arguments.given("log-level"))
                    .orElse("");
            if (QUIET_LEVELS.contains(level.toLowerCase(Locale.ROOT))) {
                settings.put("server.access-log", "false");
            }
            if (arguments.isOn("is-embedding")) {
                settings.put("server.task", "embed");
            }
            server.putChatTemplate();
            server.putTokenizer("tokenizer-path", model);
        }
    }
}

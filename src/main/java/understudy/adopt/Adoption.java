package understudy.adopt;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.engine.ModelTooLargeException;
import understudy.json.Jackson;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.hybrid.HybridConfig;
import understudy.latency.GpuSpec;
import understudy.scenario.GpuFile;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.scenario.SpecFiles;
import understudy.settings.Defaults;
import understudy.settings.ScenarioException;

/** Makes a scenario of findings: flags by the command line of their engine, memory as the engine has told it. */
public final class Adoption {
    /** Order of a scenario's parts. */
    private static final List<String> PARTS =
            List.of("cluster", "latency", "engine", "kv-cache", "router", "server", "workload");

    /** Flags of a server's address, files, keys and logs, which are its own, and not its twin's. */
    private static final Set<String> OWN_FLAGS = Set.of(
            "host",
            "port",
            "uds",
            "root-path",
            "api-key",
            "admin-api-key",
            "ssl-keyfile",
            "ssl-certfile",
            "config",
            "headless",
            "node-rank",
            "model-tag",
            "tokenizer",
            "tokenizer-path",
            "chat-template",
            "skip-tokenizer-init",
            "seed",
            "random-seed",
            "uvicorn-log-level",
            "log-level",
            "log-level-http",
            "disable-uvicorn-access-log",
            "disable-access-log-for-endpoints",
            "kv-events-config");

    /** Folder of one version of a model. */
    private static final Pattern SNAPSHOT = Pattern.compile("(?<=[^/])/(?:snapshots/)?[0-9a-f]{32,64}/*$");

    private static final String LLM = "latency.llm";
    private static final String GPU = "latency.gpu";
    private static final String DEFAULT_GPU = "h100-sxm";
    private static final String BLOCK_SIZE = "kv-cache.block-size";
    private static final String NUM_BLOCKS = "kv-cache.num-gpu-blocks";
    private static final String MAX_MODEL_LEN = "engine.max-model-len";
    private static final String SGLANG = "engine.sglang.";

    /** So many types of GPU are worth a list. */
    private static final int FEW = 5;

    /** Part of a GPU's memory that is in use before weights are loaded. */
    private static final double MOST_IN_USE = 0.1;

    private final Findings findings;
    private final EngineName engine;
    private final EngineFlags commandLine;
    private final Map<String, Setting> settings = new LinkedHashMap<>();
    private final List<String> seen = new ArrayList<>();
    private final List<String> unknown = new ArrayList<>();
    private boolean isGuessed;

    private Adoption(Findings findings, EngineName engine, EngineFlags commandLine) {
        this.findings = findings;
        this.engine = engine;
        this.commandLine = commandLine;
    }

    /**
     * Returns the engine of a server.
     *
     * @throws ScenarioException if no source tells it
     */
    public static EngineName engine(Findings findings) {
        var engine = findings.engine();
        if (engine == null) {
            throw new ScenarioException(String.join(", ", findings.sources())
                    + ": does not say whose server it is; add its start log, or its /metrics");
        }
        return engine;
    }

    private static void requireEnough(Findings findings, EngineName engine) {
        String sources = String.join(", ", findings.sources()) + ": of " + engine.title();
        if (findings.capacity().isEmpty()) {
            throw new ScenarioException(sources + ", but does not say how much the KV cache holds: there is no "
                    + capacityLine(engine) + "; give the log up to the end of the start, or add the server's /metrics"
                    + " or its address");
        }
        if (model(findings).isEmpty()) {
            throw new ScenarioException(sources + ", but does not say which model is served: there is no "
                    + (engine == EngineName.VLLM ? "line \"non-default args\"" : "line \"server_args=\"")
                    + ", no command and no model_name; add the command that started it, or its /v1/models");
        }
    }

    private static String capacityLine(EngineName engine) {
        return engine == EngineName.VLLM
                ? "line \"GPU KV cache size: N tokens\", and no vllm:cache_config_info"
                : "line \"max_total_num_tokens=N\", and no sglang:max_total_num_tokens";
    }

    private static Optional<Finding> model(Findings findings) {
        return findings.flag("model-tag")
                .or(() -> findings.flag("model"))
                .or(() -> findings.flag("model-path"))
                .or(() -> findings.fact(Fact.SERVED_NAME));
    }

    /**
     * Makes the scenario.
     *
     * @param commandLine of the findings' {@link #engine}
     * @param gpu as the user names it, or null
     * @throws ScenarioException if the findings are not enough for a scenario, or cannot be emulated
     */
    public static AdoptedScenario of(Findings findings, EngineFlags commandLine, @Nullable String gpu) {
        var engine = engine(findings);
        var all = withCommand(findings, commandLine);
        requireEnough(all, engine);
        var adoption = new Adoption(all, engine, commandLine);
        adoption.putFlags();
        adoption.putReplicas();
        adoption.putHardware(gpu);
        adoption.putMemory();
        adoption.tellWhatElseIsSeen();
        adoption.tellWhatIsAssumed();
        return adoption.scenario();
    }

    /** What a server says of its arguments goes over the command, whose flags may be defaults of a script. */
    private static Findings withCommand(Findings findings, EngineFlags commandLine) {
        var command = findings.fact(Fact.COMMAND);
        if (command.isEmpty()) {
            return findings;
        }
        var all = findings.named(String.join(", ", findings.sources()));
        commandLine
                .flags(command.get().value())
                .forEach((name, value) -> all.putFlagIfAbsent(
                        name, new Finding(value, command.get().where() + " --" + name)));
        return all;
    }

    private void put(String key, String value, String where) {
        settings.put(key, new Setting(key, value, where));
    }

    private void putFlags() {
        var model = model(findings).orElseThrow();
        String modelFlag = engine == EngineName.VLLM ? "model" : "model-path";
        var words = new LinkedHashMap<String, List<String>>();
        String name = SNAPSHOT.matcher(model.value()).replaceFirst("");
        words.put(modelFlag, List.of("--" + modelFlag + "=" + name));
        var others = new ArrayList<String>();
        var withoutEffect = new ArrayList<String>();
        findings.flags().forEach((flag, finding) -> {
            var known = commandLine.flag(flag);
            if (OWN_FLAGS.contains(flag) || flag.equals(modelFlag)) {
                return;
            }
            if (known.isEmpty() || !known.get().hasEffect()) {
                if (finding.where().endsWith("non-default args")) {
                    (known.isEmpty() ? others : withoutEffect).add("--" + flag);
                }
                return;
            }
            var written = words(flag, finding.value(), known.get().form());
            if (!written.isEmpty()) {
                words.put(flag, written);
            }
        });
        putServedName(words, model.value());
        put(words, modelFlag, model.where());
        if (!withoutEffect.isEmpty()) {
            seen.add("flags without effect in an emulation: " + String.join(", ", withoutEffect));
        }
        if (!others.isEmpty()) {
            seen.add("flags that are not known here, and passed over: " + String.join(", ", others));
        }
    }

    /** Without a name the model is served under that of its path. */
    private void putServedName(Map<String, List<String>> words, String path) {
        String name = findings.fact(Fact.SERVED_NAME).map(Finding::value).orElse(path);
        words.putIfAbsent("served-model-name", List.of("--served-model-name", name));
    }

    /** A setting comes from the flag whose value it takes, or without which it would be another; others from the model. */
    private void put(Map<String, List<String>> words, String modelFlag, String modelWhere) {
        var read =
                commandLine.read(words.values().stream().flatMap(List::stream).toList());
        isGuessed = read.isGuessed() && findings.fact(Fact.TIMED_AS).isEmpty();
        var places = new LinkedHashMap<String, String>();
        words.keySet().stream().filter(name -> !name.equals(modelFlag)).forEach(name -> {
            String where = findings.flag(name)
                    .or(() -> findings.fact(Fact.SERVED_NAME))
                    .map(Finding::where)
                    .orElse(modelWhere);
            String setting =
                    commandLine.flag(name).map(EngineFlags.Known::setting).orElse("");
            if (setting.isEmpty()) {
                changedWithout(words, name, read.settings()).forEach(key -> places.put(key, where));
            } else {
                places.put(setting, where);
            }
        });
        read.settings().forEach((key, value) -> put(key, value, places.getOrDefault(key, modelWhere)));
        if (findings.fact(Fact.TIMED_AS).isEmpty()) {
            unknown.addAll(read.warnings());
        }
    }

    private List<String> changedWithout(Map<String, List<String>> words, String name, Map<String, String> all) {
        var others = new LinkedHashMap<>(words);
        others.remove(name);
        Map<String, String> without;
        try {
            without = commandLine
                    .read(others.values().stream().flatMap(List::stream).toList())
                    .settings();
        } catch (ScenarioException e) {
            return List.of(); // other flags need this one, and name the same settings
        }
        return all.entrySet().stream()
                .filter(setting -> !setting.getValue().equals(without.get(setting.getKey())))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static List<String> words(String name, String value, EngineFlags.Form form) {
        boolean isTrue = value.equalsIgnoreCase("true");
        return switch (form) {
            case ON -> isTrue ? List.of("--" + name) : List.of();
            case SWITCH -> value.isBlank() ? List.of() : List.of(isTrue ? "--" + name : "--no-" + name);
            case LIST -> list(name, value);
            case VALUE -> value.isBlank() ? List.of() : List.of("--" + name + "=" + value);
        };
    }

    private static List<String> list(String name, String value) {
        var words = new ArrayList<String>();
        words.add("--" + name);
        if (value.startsWith("[")) {
            try {
                Jackson.mapper()
                        .readTree(value)
                        .forEach(each -> words.add(each.isValueNode() ? each.asText() : each.toString()));
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("a list was written as " + value, e);
            }
        } else if (!value.isBlank()) {
            words.add(value);
        }
        return words.size() == 1 ? List.of() : words;
    }

    /** Of several engines behind one page of metrics each is a replica. */
    private void putReplicas() {
        findings.fact(Fact.NUM_ENGINES)
                .filter(engines -> engines.number() > 1 && !settings.containsKey("cluster.replicas"))
                .ifPresent(engines -> put("cluster.replicas", engines.value(), engines.where()));
        if (engine == EngineName.SGLANG) {
            put("engine.kind", "sglang", "the engine");
        } else if (settings.containsKey("cluster.replicas")) {
            put("router.policy", "least-outstanding", "as vLLM shares requests among its engines");
        }
    }

    private void putHardware(@Nullable String gpu) {
        if (!settings.containsKey(LLM)) {
            put(LLM, Defaults.SCENARIO.text(LLM), "the model is not known, and this one stands in");
        }
        findings.fact(Fact.TIMED_AS).ifPresent(llm -> put(LLM, llm.value(), llm.where()));
        findings.fact(Fact.NUM_GPUS)
                .filter(gpus -> gpus.number() > 1 && !settings.containsKey("latency.tensor-parallel-size"))
                .ifPresent(gpus ->
                        put("latency.tensor-parallel-size", String.valueOf(gpus.number() / numStages()), gpus.where()));
        var told = findings.fact(Fact.GPU);
        if (gpu != null) {
            put(GPU, gpu, "--gpu");
        } else if (told.flatMap(Adoption::gpuNamed).isPresent()) {
            put(
                    GPU,
                    gpuNamed(told.get()).orElseThrow(),
                    told.get().where() + ", device " + told.get().value());
        } else {
            putLikelyGpu(told);
        }
    }

    private long numStages() {
        var stages = settings.get("latency.pipeline-parallel-size");
        return stages == null ? 1 : Long.parseLong(stages.value());
    }

    /** Returns the GPU with a data sheet whose name begins as a device's does: NVIDIA_H100_80GB_HBM3 is an h100-80gb. */
    private static Optional<String> gpuNamed(Finding device) {
        String name = device.value().toLowerCase(Locale.ROOT).replace('_', '-').replaceFirst("^nvidia-", "");
        while (!name.isEmpty()) {
            var found = SpecFiles.GPUS.find(name);
            if (found.isPresent()) {
                return found.map(file -> file.text("name"));
            }
            name = name.substring(0, Math.max(0, name.lastIndexOf('-')));
        }
        return Optional.empty();
    }

    /** What is known of the memory leaves some types of GPU. */
    private void putLikelyGpu(Optional<Finding> told) {
        double least = leastGib();
        double most = findings.fact(Fact.FREE_GIB)
                .map(free -> free.decimal() / (1 - MOST_IN_USE))
                .orElse(Double.POSITIVE_INFINITY);
        var fitting = SpecFiles.GPUS.all().stream()
                .map(GpuFile::read)
                .map(GpuFile::spec)
                .filter(spec -> spec.memoryGib() >= least && spec.memoryGib() <= most)
                .sorted(Comparator.comparingDouble(GpuSpec::memoryGib).thenComparing(GpuSpec::name))
                .map(GpuSpec::name)
                .toList();
        String chosen = fitting.isEmpty() || fitting.contains(DEFAULT_GPU) ? DEFAULT_GPU : fitting.get(0);
        String why = told.map(device -> "the device is " + device.value() + " (" + device.where()
                        + "), of which there is no data sheet here")
                .orElse("the GPU");
        boolean areFew = !fitting.isEmpty() && fitting.size() <= FEW;
        put(GPU, chosen, "not said by the sources; --gpu names another");
        unknown.add(why + ": " + GPU + " is " + chosen
                + (areFew ? ", of those whose memory fits: " + String.join(", ", fitting) : "")
                + "; --gpu names yours");
    }

    /** What was free, or what weights and KV cache take together. */
    private double leastGib() {
        double parts = findings.fact(Fact.WEIGHTS_GIB).map(Finding::decimal).orElse(0.0)
                + findings.fact(Fact.KV_GIB).map(Finding::decimal).orElse(0.0);
        return Math.max(
                parts, findings.fact(Fact.FREE_GIB).map(Finding::decimal).orElse(0.0));
    }

    private void putMemory() {
        if (engine == EngineName.SGLANG) {
            putPool();
        } else {
            putBlocks();
        }
    }

    private void putPool() {
        var tokens = findings.tokens().orElseThrow();
        putHost(tokens);
        put(SGLANG + "max-total-tokens", tokens.value(), tokens.where());
        long numRanks = settings.containsKey("latency.data-parallel-size")
                ? Long.parseLong(settings.get("latency.data-parallel-size").value())
                : 1;
        String ofAll = numRanks > 1 ? ", of each of " + numRanks + " ranks" : "";
        findings.fact(Fact.RANK_MAX_RUNNING)
                .ifPresent(running -> put(
                        SGLANG + "max-running-requests",
                        String.valueOf(running.number() * numRanks),
                        running.where() + ofAll));
        findings.fact(Fact.RANK_CHUNK)
                .ifPresent(chunk -> put(
                        SGLANG + "chunked-prefill-size",
                        String.valueOf(chunk.number() < 0 ? -1 : chunk.number() * numRanks),
                        chunk.where() + ofAll));
    }

    /** The size of the memory behind the GPU's, if no flag tells of it. */
    private void putHost(Finding tokens) {
        var host = findings.fact(Fact.HOST_TOKENS).filter(each -> each.number() > 0);
        if (host.isPresent() && findings.flag("enable-hierarchical-cache").isEmpty()) {
            put(SGLANG + "enable-hierarchical-cache", "true", host.get().where());
            put(
                    SGLANG + "hicache-ratio",
                    String.valueOf(host.get().decimal() / tokens.decimal()),
                    host.get().where());
        }
    }

    private void putBlocks() {
        var blockSize = findings.fact(Fact.BLOCK_SIZE).or(() -> findings.flag("block-size"));
        blockSize.ifPresentOrElse(
                size -> put(BLOCK_SIZE, size.value(), size.where()),
                () -> unknown.add("tokens per block: " + BLOCK_SIZE + " is 16, vLLM's default on most GPUs"));
        int size = blockSize.map(Finding::number).orElse(16L).intValue();
        var blocks = findings.fact(Fact.KV_BLOCKS);
        var tokens = findings.tokens();
        var memory = memory();
        if (isGuessed && memory instanceof HybridConfig) {
            // The model that lends its timing has windows, and the one that is served may have none.
            put("kv-cache.groups", "[{ kind = full-attention }]", "the model's layers are not known");
            memory = memory();
        }
        if (blocks.isPresent()) {
            put(NUM_BLOCKS, blocks.get().value(), blocks.get().where());
        } else {
            var count = count(tokens.orElseThrow(), size, memory);
            put(
                    NUM_BLOCKS,
                    String.valueOf(count.numBlocks()),
                    tokens.get().where() + ": " + tokens.get().value() + " tokens"
                            + remainder(tokens.get().number() - count.numTokens()));
        }
        limitModelLen(memory());
    }

    private static String remainder(long numTokens) {
        return numTokens == 0 ? "" : ", of which " + numTokens + " are less than a block";
    }

    private BlockCount count(Finding tokens, int blockSize, KvCacheSpec memory) {
        long maxModelLen = findings.flag("max-model-len")
                .map(Finding::value)
                .filter(value -> value.matches("[0-9]+"))
                .map(Long::parseLong)
                .orElse(0L);
        double concurrency =
                findings.fact(Fact.MAX_CONCURRENCY).map(Finding::decimal).orElse(0.0);
        if (memory instanceof HybridConfig hybrid) {
            var groups = hybrid.groups();
            return BlockCount.of(
                    tokens.number(),
                    blockSize,
                    maxModelLen,
                    concurrency,
                    groups.groups().size(),
                    length -> groups.maxBlocks((int) length, (int) length));
        }
        return BlockCount.of(
                tokens.number(), blockSize, maxModelLen, concurrency, 1, length -> -Math.floorDiv(-length, blockSize));
    }

    /** vLLM takes a request that fills the whole cache; here the null block is none of it. */
    private void limitModelLen(KvCacheSpec memory) {
        var given = settings.get(MAX_MODEL_LEN);
        if (given != null && given.value().matches("[0-9]+") && Long.parseLong(given.value()) > memory.maxTokens()) {
            put(
                    MAX_MODEL_LEN,
                    String.valueOf(memory.maxTokens()),
                    given.where() + " has " + given.value() + ", of which a cache of this size holds so many");
        }
    }

    /** Returns the memory of the settings so far; of as many blocks as are known, or as many as any request needs. */
    private KvCacheSpec memory() {
        var all = values();
        var given = settings.get(NUM_BLOCKS);
        all.put(NUM_BLOCKS, given == null ? "4000000" : given.value());
        if (given != null) {
            all.remove(MAX_MODEL_LEN);
        }
        return read(all).engine().kvCache();
    }

    private Map<String, String> values() {
        var values = new LinkedHashMap<String, String>();
        settings.forEach((key, setting) -> values.put(key, setting.value()));
        return values;
    }

    private static Scenario read(Map<String, String> values) {
        return Scenario.read(new ScenarioFile(Map.of()).load(null, values));
    }

    private void tellWhatElseIsSeen() {
        for (var fact :
                List.of(Fact.ATTENTION_BACKEND, Fact.GRAPH_SIZES, Fact.WEIGHTS_GIB, Fact.KV_GIB, Fact.FREE_GIB)) {
            findings.fact(fact)
                    .ifPresent(finding ->
                            seen.add(fact.title() + ": " + shortened(finding.value()) + " (" + finding.where() + ")"));
        }
    }

    /** Of a long list the ends tell enough. */
    private static String shortened(String value) {
        String[] parts = value.split(", *", -1);
        return parts.length < 8 ? value : parts[0] + ", " + parts[1] + " ... " + parts[parts.length - 1];
    }

    private void tellWhatIsAssumed() {
        if (engine == EngineName.VLLM && !settings.containsKey("engine.max-num-seqs")) {
            unknown.add("most requests that run: engine.max-num-seqs is auto, vLLM's default for the GPU");
        }
        unknown.add("how long a step takes: as roofline has it for latency.llm and latency.gpu; calibrate fits it");
        unknown.add("how many such servers there are, and what routes to them: the default, cluster.replicas = "
                + Optional.ofNullable(settings.get("cluster.replicas"))
                        .map(Setting::value)
                        .orElse("1"));
    }

    private AdoptedScenario scenario() {
        try {
            read(values());
        } catch (ModelTooLargeException e) {
            throw new ScenarioException(String.join(", ", findings.sources()) + ": cannot be emulated on "
                    + Objects.requireNonNull(settings.get(GPU)).value() + ": " + e.problem()
                    + "; name a GPU with --gpu");
        }
        var written = settings.values().stream()
                .filter(setting -> !isDefault(setting))
                .sorted(Comparator.comparingInt(Adoption::part))
                .toList();
        String version =
                findings.fact(Fact.VERSION).map(each -> " " + each.value()).orElse("");
        String title = engine.title() + version + " with "
                + model(findings).orElseThrow().value() + ", adopted from " + String.join(", ", findings.sources());
        return new AdoptedScenario(title, written, List.copyOf(seen), List.copyOf(unknown));
    }

    private static int part(Setting setting) {
        int index = PARTS.indexOf(setting.key().split("\\.", 2)[0]);
        return index < 0 ? PARTS.size() : index;
    }

    /** A default that stands for auto may be written, so that the value's place is seen. */
    private static boolean isDefault(Setting setting) {
        try {
            return !setting.key().equals(GPU)
                    && !setting.key().equals(LLM)
                    && Defaults.SCENARIO.text(setting.key()).equals(setting.value());
        } catch (ScenarioException e) {
            return false; // a list, or a section
        }
    }
}

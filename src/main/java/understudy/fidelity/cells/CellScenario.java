package understudy.fidelity.cells;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import understudy.scenario.ScenarioFile;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/**
 * Scenario of a cell: a closed loop of as many clients as it was measured with, on its model and its GPUs. All other
 * settings are as in a scenario that all cells share.
 */
public final class CellScenario {
    /** Engine and memory as in public measurements of vLLM. */
    public static final String CLOSED_LOOP = "conf/validation/closed-loop.conf";

    private static final String ENGINE_KIND = "engine.kind";
    private static final String VLLM = "vllm";
    private static final String LATENCY_MODEL = "latency.model";
    private static final String KV_CACHE_DTYPE = "kv-cache.kv-cache-dtype";
    private static final int REQUESTS_PER_CLIENT = 10;
    private static final double SHORTEST = 0.8;
    private static final int FP8_BLOCK = 128;
    private static final Pattern FORMAT_SUFFIX = Pattern.compile("(?i)-(nvfp4|mxfp4|fp4|fp8|bf16|int4|awq|gptq).*$");
    private static final Pattern FOUR_BIT_FLOATS = Pattern.compile("fp4");
    private static final Pattern FOUR_BIT_INTEGERS = Pattern.compile("int4");
    private static final Pattern FP8 = Pattern.compile("fp8");
    private static final Pattern FEW_BITS = Pattern.compile("fp[48]");
    private static final Pattern SIXTEEN_BITS = Pattern.compile("bf16|bfloat16|fp16|float16");

    /**
     * Formats of weights; experts may have fewer bits than the rest, and decide. Tables say NVFP4 of gpt-oss, too, whose
     * only checkpoint is MXFP4.
     */
    private static final List<Format> FORMATS = List.of(
            new Format(Pattern.compile("nvfp4|\\bfp4"), FOUR_BIT_FLOATS, "nvfp4"),
            new Format(Pattern.compile("mxfp4"), FOUR_BIT_FLOATS, "mxfp4"),
            new Format(Pattern.compile("int4|w4"), FOUR_BIT_INTEGERS, "int4"),
            new Format(Pattern.compile("\\bfp8.?block"), FP8, "fp8-block"),
            new Format(Pattern.compile("^fp8"), FP8, "fp8"),
            new Format(Pattern.compile("^(" + SIXTEEN_BITS + ")"), SIXTEEN_BITS, "bf16"));

    /** Rows of trial builds name a branch. */
    private static final Pattern VERSION = Pattern.compile("\\d+(\\.\\w+)+");

    private final ScenarioFile files;
    private final String scenario;
    private final Map<String, String> settings;
    private final Section shared;

    /**
     * Format of weights.
     *
     * @param measured its names in rows of measurements
     * @param stored its names in the files of models
     * @param dtype its name in scenarios
     */
    private record Format(Pattern measured, Pattern stored, String dtype) {}

    /**
     * Reads the shared scenario.
     *
     * @param scenario its file
     * @param settings that go over it
     */
    public CellScenario(ScenarioFile files, String scenario, Map<String, String> settings) {
        this.files = files;
        this.scenario = scenario;
        this.settings = settings;
        shared = files.load(scenario, settings);
    }

    /** Returns the kind of the engine of the shared scenario. */
    public String engineKind() {
        return shared.text(ENGINE_KIND);
    }

    /** Returns the latency model of the shared scenario. */
    public String latencyModel() {
        return shared.text(LATENCY_MODEL);
    }

    /**
     * Returns the scenario of a cell.
     *
     * @throws ScenarioException if there is none; it says why
     */
    Section of(MeasuredSetup setup, String latencyModel) {
        var all = new LinkedHashMap<>(settings);
        all.put(LATENCY_MODEL, latencyModel);
        all.putAll(load(setup));
        if (engineKind().equals(VLLM)) {
            all.put("engine.max-num-seqs", String.valueOf(setup.concurrency()));
        }
        if (!setup.gpu().isEmpty()) {
            all.put("latency.gpu", gpu(setup.gpu()));
        }
        var llm = model(setup.model());
        llm.ifPresent(file -> all.put("latency.llm", file.text("name")));
        all.putAll(formats(setup, llm));
        for (var command : StartCommand.of(engineKind(), setup)) {
            command.settings().forEach((key, value) -> putIfDefault(all, key, value));
        }
        if (engineKind().equals(VLLM)) {
            putVersion(all, setup.version());
        }
        all.putAll(parallelism(setup, llm));
        return files.load(scenario, all);
    }

    private static Map<String, String> load(MeasuredSetup setup) {
        String concurrency = String.valueOf(setup.concurrency());
        var load = new LinkedHashMap<String, String>();
        load.put("workload.kind", "generated");
        load.put("workload.requests", String.valueOf((long) REQUESTS_PER_CLIENT * setup.concurrency()));
        load.put("workload.arrivals.request-rate", "inf");
        load.put("workload.max-concurrency", concurrency);
        putLengths(load, "prompt", setup.inputTokens());
        putLengths(load, "output", setup.outputTokens());
        return load;
    }

    private static void putLengths(Map<String, String> load, String what, int longest) {
        String key = "workload.lengths." + what;
        load.put(key + ".kind", "uniform");
        load.put(key + ".min", String.valueOf(Math.max(1, (int) (SHORTEST * longest))));
        load.put(key + ".max", String.valueOf(longest));
    }

    private static String gpu(String name) {
        return SpecFiles.GPUS
                .find(name)
                .or(() -> SpecFiles.GPUS.find(name.replaceAll("(?i)[_-]sxm[0-9]?$", "")))
                .map(file -> file.text("name"))
                .orElseThrow(() -> new ScenarioException("unknown GPU: " + name));
    }

    /** The name of a quantised checkpoint ends in its format. */
    private static Optional<Section> model(String name) {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        var found = SpecFiles.MODELS
                .find(name)
                .or(() -> SpecFiles.MODELS.find(FORMAT_SUFFIX.matcher(name).replaceFirst("")));
        if (found.isEmpty()) {
            throw new ScenarioException("unknown model: " + name);
        }
        return found;
    }

    private Map<String, String> formats(MeasuredSetup setup, Optional<Section> llm) {
        var formats = new LinkedHashMap<String, String>();
        if (!setup.weights().isEmpty()) {
            formats.put("latency.dtype", dtype(setup, llm));
        }
        String kvCacheDtype = kvCache(setup).dtype();
        if (!kvCacheDtype.equals(shared.text(KV_CACHE_DTYPE))) {
            formats.put(KV_CACHE_DTYPE, kvCacheDtype);
        }
        return formats;
    }

    /**
     * Names the engine's version, whose kernels step times from tables come near to. Not for SGLang: rows of 0.5.9 are 12 %
     * faster than its tables of 0.5.9, and as fast as those of 0.5.14.
     */
    private void putVersion(Map<String, String> all, String version) {
        if (VERSION.matcher(version).matches()) {
            putIfDefault(all, "latency.profiled.versions.engine", version);
        }
    }

    private void putIfDefault(Map<String, String> all, String key, String value) {
        int dot = key.lastIndexOf('.');
        if (shared.section(key.substring(0, dot)).isDefault(key.substring(dot + 1))) {
            all.put(key, value);
        }
    }

    /** Returns the format of a cell's KV cache: what its row says, or else what measurements of its kind have. */
    KvCacheFormat kvCache(MeasuredSetup setup) {
        if (!setup.kvCacheDtype().isEmpty()) {
            return new KvCacheFormat(kvCacheDtype(setup.kvCacheDtype().toLowerCase(Locale.ROOT)), "");
        }
        String ofScenario = shared.text(KV_CACHE_DTYPE);
        if (!ofScenario.equals("auto")) {
            return new KvCacheFormat(ofScenario, "as in the scenario");
        }
        if (engineKind().equals(VLLM) && hasFp8KvInCheckpoint(setup)) {
            return new KvCacheFormat("fp8", "the checkpoints of quantised Llamas bring scales for it");
        }
        if (StartCommand.of(engineKind(), setup).stream().anyMatch(StartCommand::hasFp8Kv)) {
            return new KvCacheFormat("fp8", "public runs of this model on such GPUs have it");
        }
        return new KvCacheFormat(ofScenario, "as in the scenario");
    }

    /** A model that is stored in such a format knows best which of its parts are. */
    private static String dtype(MeasuredSetup setup, Optional<Section> llm) {
        String measured = (setup.weights() + " " + setup.expertWeights()).toLowerCase(Locale.ROOT);
        String stored = llm.map(file -> file.text("dtype") + " " + file.text("expert-dtype"))
                .orElse("");
        var format = FORMATS.stream()
                .filter(each -> each.measured.matcher(measured).find())
                .findFirst()
                .orElseThrow(() -> new ScenarioException("weights in " + setup.weights() + " are not modelled"));
        return format.stored.matcher(stored).find() ? "auto" : format.dtype;
    }

    private static String kvCacheDtype(String dtype) {
        return dtype.startsWith("fp8") ? "fp8" : SIXTEEN_BITS.matcher(dtype).matches() ? "bf16" : dtype;
    }

    /** NVIDIA's quantised Llamas, which are what is measured, bring scales for a KV cache in FP8, and vLLM takes them. */
    private static boolean hasFp8KvInCheckpoint(MeasuredSetup setup) {
        return setup.shortModel().toLowerCase(Locale.ROOT).startsWith("llama")
                && FEW_BITS.matcher(setup.weights().toLowerCase(Locale.ROOT)).find();
    }

    /** vLLM has experts whole on each rank, or split on all of them; its ranks get requests by what they have. */
    static Map<String, String> parallelism(MeasuredSetup setup, Optional<Section> llm) {
        var sizes = new LinkedHashMap<String, String>();
        sizes.put("latency.tensor-parallel-size", String.valueOf(setup.tensorParallelSize()));
        if (setup.dataParallelSize() > 1) {
            sizes.put("latency.data-parallel-size", String.valueOf(setup.dataParallelSize()));
            sizes.put("cluster.replicas", String.valueOf(setup.dataParallelSize()));
            sizes.put("router.policy", "least-outstanding");
        }
        if (setup.expertParallelSize() > 1
                || llm.filter(file -> cannotSplitExperts(setup, file)).isPresent()) {
            sizes.put("latency.enable-expert-parallel", "true");
        }
        return sizes;
    }

    /** A part of an expert in FP8 must be whole blocks, and then vLLM has no other way than whole experts. */
    private static boolean cannotSplitExperts(MeasuredSetup setup, Section llm) {
        int expert = llm.wholeNumber("moe-intermediate-size", 0, Integer.MAX_VALUE);
        return (setup.expertWeights() + " " + llm.text("dtype")).contains("block")
                && setup.moeTensorParallelSize() > 1
                && expert % (setup.moeTensorParallelSize() * FP8_BLOCK) != 0;
    }
}

package understudy.engine.vllm;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.engine.Hardware;
import understudy.engine.lora.LoraConfig;
import understudy.latency.LatencyModel;
import understudy.latency.lora.AdapterSize;
import understudy.latency.lora.LoraCost;
import understudy.latency.lora.LoraKernels;
import understudy.latency.lora.LoraLatency;
import understudy.settings.Section;

/**
 * The section {@code engine.lora}.
 *
 * @param config places for adapters
 * @param cost time that adapters add to a step of each stage, or null without LoRA
 * @param slotBytes memory of each GPU that is set aside for adapters
 * @param modules paths by name of the adapters that a server has from its start
 */
record LoraSettings(LoraConfig config, @Nullable LoraCost cost, double slotBytes, Map<String, String> modules) {
    static final LoraSettings NONE = new LoraSettings(LoraConfig.NONE, null, 0, Map.of());
    private static final int MAX_LORAS = 100_000;
    private static final int MAX_RANK = 4096;
    private static final String ENABLE = "enable";
    private static final String MAX_CPU_LORAS = "max-cpu-loras";
    private static final String RANK = "adapter-rank";
    private static final String MODULES = "lora-modules";

    static LoraSettings read(Section engine, Hardware hardware) {
        var lora = engine.section("lora");
        int maxLoras = lora.wholeNumber("max-loras", 1, MAX_LORAS);
        int maxCpuLoras = lora.numberOrAuto(MAX_CPU_LORAS, 1, Integer.MAX_VALUE).orElse(maxLoras);
        if (maxCpuLoras < maxLoras) {
            throw lora.unusable(MAX_CPU_LORAS, "must be at least max-loras, which is " + maxLoras);
        }
        int maxRank = lora.wholeNumber("max-lora-rank", 1, MAX_RANK);
        int rank = lora.numberOrAuto(RANK, 1, MAX_RANK).orElse(maxRank);
        if (rank > maxRank) {
            throw lora.unusable(RANK, "must be at most max-lora-rank, which is " + maxRank);
        }
        var speeds = speeds(lora, rank);
        var modules = modules(lora);
        if (!lora.bool(ENABLE)) {
            return NONE;
        }
        return of(LoraConfig.ofPlaces(maxLoras, maxCpuLoras), maxRank, speeds, modules, lora, hardware);
    }

    private static LoraCost.Speeds speeds(Section lora, int rank) {
        return new LoraCost.Speeds(
                rank,
                lora.nanos("load-time"),
                lora.positive("disk-gb-per-s"),
                lora.nanos("activation-time"),
                lora.positive("host-gb-per-s"));
    }

    private static LoraSettings of(
            LoraConfig config,
            int maxRank,
            LoraCost.Speeds speeds,
            Map<String, String> modules,
            Section lora,
            Hardware hardware) {
        var model = hardware.model();
        if (model == null || !hardware.hasDataSheet()) {
            throw lora.unusable(
                    ENABLE, "which needs latency.llm and a GPU with a data sheet, to know what adapters weigh");
        }
        var stage = model.stage(hardware.pipelineParallelSize());
        var size = AdapterSize.of(stage, hardware.tensorParallelSize());
        var kernels = new LoraKernels(
                size, maxRank, config.maxLoras(), lora.bool("specialize-active-lora"), lora.nanos("kernel-time"));
        var cost = LoraCost.of(kernels, AdapterSize.of(stage, 1), speeds);
        return new LoraSettings(
                config.loading(List.copyOf(modules.keySet()), cost.loadNanos(), cost.activationNanos()),
                cost,
                config.maxLoras() * (size.bytes(maxRank) + embeddingBytes(hardware, maxRank)),
                modules);
    }

    /**
     * Returns the bytes of a place's tables of embedding and head, each with a row for every token and one for every hidden
     * value ({@code VocabParallelEmbeddingWithLoRA}, {@code LogitsProcessorWithLoRA}). The GPUs of a tensor-parallel group
     * do not divide them; in a pipeline, the first stage has the one, and the last the other.
     */
    private static double embeddingBytes(Hardware hardware, int rank) {
        var model = hardware.model();
        if (model == null || !hardware.hasLoraEmbeddings()) {
            return 0;
        }
        int numTables = hardware.pipelineParallelSize() == 1 ? 2 : 1;
        return 2.0 * numTables * rank * ((double) model.vocabSize() + model.hiddenSize());
    }

    /** Returns how long a stage takes, given how long it does without adapters. */
    LatencyModel latency(LatencyModel plain) {
        return cost == null ? plain : new LoraLatency(plain, cost);
    }

    private static Map<String, String> modules(Section lora) {
        var modules = new LinkedHashMap<String, String>();
        for (String text : lora.texts(MODULES)) {
            int equals = text.indexOf('=');
            String name = equals < 0 ? text : text.substring(0, equals);
            if (name.isEmpty() || modules.put(name, equals < 0 ? name : text.substring(equals + 1)) != null) {
                throw lora.unusable(MODULES, "must be different names, each alone or as name=path");
            }
        }
        return modules;
    }
}

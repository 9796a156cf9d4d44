package understudy.engine.sglang;

import understudy.engine.Hardware;
import understudy.latency.CudaGraphs;
import understudy.latency.StepExecution;
import understudy.settings.Section;

/**
 * The keys of the section {@code engine.sglang} that say how steps are run: decodes in CUDA graphs up to a limit, prefills
 * launched kernel by kernel, and the scheduler's work behind the GPU's, unless that is switched off.
 */
final class SglangExecution {
    private static final int MAX_BATCH_SIZE = 1_000_000;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final int MANY_GPUS = 4;

    /** Experts of the only model whose shared expert SGLang fuses with the others, DeepSeek V3. */
    private static final int FUSED_EXPERTS = 256;

    private SglangExecution() {}

    static StepExecution read(Section sglang, Hardware hardware) {
        int maxBatchSize = sglang.numberOrAuto("cuda-graph-max-bs", 1, MAX_BATCH_SIZE)
                .orElseGet(() -> defaultMaxBatchSize(hardware.gpuMemoryGib(), hardware.tensorParallelSize()));
        var llm = hardware.model();
        return new StepExecution(
                "SGLang",
                SglangFamily.NAME,
                CudaGraphs.ofDecodes(sglang.bool("disable-cuda-graph") ? 0 : maxBatchSize),
                sglang.nanos("launch-per-layer") / NANOS_PER_MICRO,
                sglang.nanos("host-per-step") / NANOS_PER_MICRO,
                !sglang.bool("disable-overlap-schedule"),
                !sglang.bool("disable-shared-experts-fusion")
                        && llm != null
                        && llm.feedForward().numExperts() == FUSED_EXPERTS);
    }

    /** Returns what {@code server_args.py} takes for a GPU's memory; an H100 if none is known. */
    static int defaultMaxBatchSize(double memoryGib, int tensorParallelSize) {
        boolean areMany = tensorParallelSize >= MANY_GPUS;
        if (memoryGib == 0 || memoryGib >= 60) {
            return areMany || memoryGib >= 160 ? 512 : 256;
        }
        if (memoryGib < 20) {
            return 8;
        }
        return memoryGib < 35 ? areMany ? 80 : 24 : areMany ? 160 : 32;
    }
}

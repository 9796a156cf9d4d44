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

    /** Experts of the models with latent attention whose shared expert SGLang fuses with the others: DeepSeek V3 and GLM-5. */
    private static final int FUSED_EXPERTS = 256;

    private SglangExecution() {}

    static StepExecution read(Section sglang, Hardware hardware) {
        var llm = hardware.model();
        return new StepExecution(
                "SGLang",
                SglangFamily.NAME,
                CudaGraphs.ofDecodes(sglang.bool("disable-cuda-graph") ? 0 : maxGraphBatch(sglang, hardware)),
                sglang.nanos("launch-per-kernel") / NANOS_PER_MICRO,
                sglang.nanos("host-per-step") / NANOS_PER_MICRO,
                !sglang.bool("disable-overlap-schedule"),
                !sglang.bool("disable-shared-experts-fusion")
                        && llm != null
                        && llm.attention().latent() != null
                        && llm.feedForward().numExperts() == FUSED_EXPERTS);
    }

    /** Returns the most requests of a decode batch that runs as a graph. */
    static int maxGraphBatch(Section sglang, Hardware hardware) {
        return sglang.numberOrAuto("cuda-graph-max-bs", 1, MAX_BATCH_SIZE)
                .orElseGet(() -> GpuSize.of(hardware.gpuMemoryGib())
                        .maxGraphBatch(hardware.tensorParallelSize() * hardware.lockstepSize()));
    }
}

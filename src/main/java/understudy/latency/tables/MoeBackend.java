package understudy.latency.tables;

import java.util.List;
import java.util.Locale;

/**
 * Kernels that multiply experts, by the values of vLLM's {@code --moe-backend} ({@code config/kernel.py}).
 */
public enum MoeBackend {
    /** What the engine chooses; see {@link #chosenByVllm}. */
    AUTO,
    /** Triton's, which the tables of vLLM before 0.24 have for every format but four bits. */
    TRITON,
    TRITON_UNFUSED,
    DEEP_GEMM,
    DEEP_GEMM_MEGA_MOE,
    CUTLASS,
    FLASHINFER_TRTLLM,
    FLASHINFER_CUTLASS,
    FLASHINFER_CUTEDSL,
    MARLIN,
    HUMMING,
    AITER,
    EMULATION;

    /** First version that puts FlashInfer's kernels first. */
    private static final String FLASHINFER_FIRST = "0.15";

    /** First version that prefers Triton's on Hopper again, without expert parallelism. */
    private static final String TRITON_ON_HOPPER = "0.17";

    /**
     * Returns what vLLM chooses for experts in FP8 blocks ({@code fused_moe/oracle/fp8.py}, pull requests 33490 and 34260):
     * Triton's kernels before 0.15; then FlashInfer's, from TensorRT-LLM on Blackwell and CUTLASS on Hopper; from 0.17 on, which
     * was cut after the second of these, Triton's on Hopper where no GPU has whole experts. DeepGEMM's, which earlier
     * versions prefer for large experts, are in no table. AUTO stands for other formats and GPUs, whose tables have what the
     * version measured.
     *
     * @param version of vLLM, or an empty text for a new one
     */
    static MoeBackend chosenByVllm(String version, GpuData gpu, String dtype, boolean isExpertParallel) {
        if (!dtype.equals(Dtypes.FP8_BLOCK) || !(gpu.isHopper() || gpu.isBlackwell())) {
            return AUTO;
        }
        if (KernelDatabase.isBefore(version, FLASHINFER_FIRST)) {
            return TRITON;
        }
        if (gpu.isBlackwell()) {
            return FLASHINFER_TRTLLM;
        }
        boolean prefersTriton = !isExpertParallel && !KernelDatabase.isBefore(version, TRITON_ON_HOPPER);
        return prefersTriton ? TRITON : FLASHINFER_CUTLASS;
    }

    /** Returns what the column {@code kernel_source} of a table has in it where it has these kernels; nothing for AUTO. */
    List<String> namesInTables() {
        return switch (this) {
            case AUTO -> List.of();
            case TRITON -> List.of("triton", "vllm_fused_moe");
            case DEEP_GEMM -> List.of("deepgemm", id());
            case CUTLASS -> List.of("vllm_cutlass");
            default -> List.of(id());
        };
    }

    /** Returns its name as vLLM has it. */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}

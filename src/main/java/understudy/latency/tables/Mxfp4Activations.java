package understudy.latency.tables;

/** Precision in which vLLM multiplies experts whose weights are MXFP4. */
public enum Mxfp4Activations {
    /**
     * MXFP8 on Blackwell, else BF16. vLLM itself takes BF16 there, unless {@code VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8}
     * is set, which vLLM's recipe for gpt-oss and public measurements do.
     */
    AUTO,
    /** BF16 activations. */
    BFLOAT16,
    /** FP8 activations with a scale for every 32 of them. */
    MXFP8;

    boolean areMxfp8(GpuData gpu) {
        return this == MXFP8 || (this == AUTO && gpu.isBlackwell());
    }
}

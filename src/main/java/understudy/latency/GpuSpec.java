package understudy.latency;

/**
 * Figures of a GPU for the formulas: those of its data sheet, and the share of them that kernels reach.
 *
 * @param name for messages
 * @param memoryGib memory as PyTorch reports it, in GiB
 * @param bf16Tflops dense BF16 rate in TFLOP/s
 * @param fp8Tflops dense FP8 rate in TFLOP/s, 0 if it has none
 * @param bandwidthGbPerSecond of the memory, in 10^9 B/s
 * @param gemm matrix products in BF16
 * @param fp8Gemm matrix products in FP8; its share of the bandwidth is that of {@code gemm}
 * @param attention attention kernels
 * @param elementwise norms, activations and the like
 * @param allReduce the exchange between GPUs of a tensor-parallel group
 * @param experts fused kernels of experts
 */
public record GpuSpec(
        String name,
        double memoryGib,
        double bf16Tflops,
        double fp8Tflops,
        double bandwidthGbPerSecond,
        Efficiency gemm,
        Efficiency fp8Gemm,
        Attention attention,
        Efficiency elementwise,
        AllReduce allReduce,
        Efficiency experts) {
    private static final double FLOP_PER_MICRO_AND_TFLOPS = 1e6;
    private static final double BYTES_PER_MICRO_AND_GB_PER_SECOND = 1e3;

    /**
     * Efficiency of a kind of kernel.
     *
     * @param compute share of the peak rate, above 0
     * @param bandwidth share of the memory bandwidth, above 0; it may exceed 1 where data stay in the L2 cache
     * @param overheadMicros fixed time of one kernel, in microseconds
     */
    public record Efficiency(double compute, double bandwidth, double overheadMicros) {}

    /**
     * Efficiency of attention.
     *
     * @param kernel shares while computing pairs and while reading the KV cache
     * @param mixedPerGroup by how much reading the KV cache for decodes slows down beside prefill chunks: {@code 1 +
     *     mixedPerGroup * queryHeads / kvHeads}
     * @param microsPerChunkToken least time per token of the longest sequence among prefill chunks, in microseconds
     */
    public record Attention(Efficiency kernel, double mixedPerGroup, double microsPerChunkToken) {}

    /**
     * A ring all-reduce.
     *
     * @param overheadMicros fixed time, in microseconds
     * @param busGbPerSecond bus bandwidth, in 10^9 B/s
     */
    public record AllReduce(double overheadMicros, double busGbPerSecond) {}

    /** Returns the same GPU with other figures of matrix products. */
    public GpuSpec withGemm(Efficiency other) {
        return new GpuSpec(
                name,
                memoryGib,
                bf16Tflops,
                fp8Tflops,
                bandwidthGbPerSecond,
                other,
                fp8Gemm,
                attention,
                elementwise,
                allReduce,
                experts);
    }

    /** Returns bytes per microsecond at the full memory bandwidth. */
    double bytesPerMicro() {
        return bandwidthGbPerSecond * BYTES_PER_MICRO_AND_GB_PER_SECOND;
    }

    /** Returns floating-point operations per microsecond at the full BF16 rate. */
    double flopPerMicro() {
        return bf16Tflops * FLOP_PER_MICRO_AND_TFLOPS;
    }

    /** Returns the operations per microsecond that matrix products reach in a format. */
    double gemmFlopPerMicro(WeightFormat format) {
        return switch (format) {
            case FP32 -> gemm.compute * flopPerMicro() / 2;
            case BF16, INT4, MXFP4, NVFP4 -> gemm.compute * flopPerMicro();
            case FP8, FP8_BLOCK ->
                fp8Tflops > 0
                        ? fp8Gemm.compute * fp8Tflops * FLOP_PER_MICRO_AND_TFLOPS
                        : gemmFlopPerMicro(WeightFormat.BF16);
        };
    }

    /** Returns the fixed time of a matrix product in a format. */
    double gemmOverheadMicros(WeightFormat format) {
        return format.isFp8() && fp8Tflops > 0 ? fp8Gemm.overheadMicros : gemm.overheadMicros;
    }

    /**
     * Returns the operations per microsecond that experts reach in a format: their share of the BF16 rate, times what
     * the format gains in dense products.
     */
    double expertFlopPerMicro(WeightFormat format) {
        return experts.compute * flopPerMicro() * gemmFlopPerMicro(format) / gemmFlopPerMicro(WeightFormat.BF16);
    }

    /** Returns the bytes per microsecond that an all-reduce moves. */
    double busBytesPerMicro() {
        return allReduce.busGbPerSecond * BYTES_PER_MICRO_AND_GB_PER_SECOND;
    }
}

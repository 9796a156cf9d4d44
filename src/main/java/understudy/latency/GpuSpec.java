package understudy.latency;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a GPU for the formulas: those of its data sheet, and the share of them that kernels reach.
 *
 * @param name for messages
 * @param memoryGib memory as PyTorch reports it, in GiB
 * @param bf16Tflops dense BF16 rate in TFLOP/s
 * @param fp32Tflops FP32 rate in TFLOP/s without tensor cores, as PyTorch multiplies FP32; 0 if it is not known
 * @param fp8Tflops dense FP8 rate in TFLOP/s, 0 if it has none
 * @param fp4Tflops dense FP4 rate in TFLOP/s, 0 if it has none
 * @param bandwidthGbPerSecond of the memory, in 10^9 B/s
 * @param gemm matrix products in BF16
 * @param fp8Gemm matrix products in FP8; its share of the bandwidth is that of {@code gemm}
 * @param fp8Slowdown by how much FP8 products of a number of rows are slower than that, as their kernels go by rows; null if not
 * @param fp4Gemm matrix products in NVFP4; its share of the bandwidth is that of {@code gemm}
 * @param attention attention kernels
 * @param linearAttention kernels of linear attention
 * @param elementwise norms, activations and the like
 * @param allReduce the exchange between GPUs of a tensor-parallel group
 * @param experts kernels of routed experts
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record GpuSpec(
        String name,
        double memoryGib,
        double bf16Tflops,
        double fp32Tflops,
        double fp8Tflops,
        double fp4Tflops,
        double bandwidthGbPerSecond,
        Efficiency gemm,
        Efficiency fp8Gemm,
        @Nullable KernelTable fp8Slowdown,
        Efficiency fp4Gemm,
        Attention attention,
        LinearAttention linearAttention,
        Efficiency elementwise,
        AllReduce allReduce,
        Experts experts)
        implements GpuSpecBuilder.With {
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
     * @param fp8Bandwidth share of the bandwidth while reading an FP8 KV cache, above 0
     * @param fp8OverheadMicros fixed time of one kernel with an FP8 KV cache, in microseconds
     * @param causalFactor how much longer a pair takes among the tokens of a chunk than one with a token before it
     * @param mixedPerGroup by how much reading the KV cache for decodes slows down beside prefill chunks, and at least 1:
     *     {@code mixedPerGroup * queryHeads / kvHeads} up to 64 decodes, and from 128 on 1.5 times that
     * @param microsPerChunkToken least time per token of the longest sequence among prefill chunks, in microseconds
     * @param numMultiprocessors of a GPU whose kernels read each sequence in one of them; 0 if they share it
     * @param microsPerDecodedHead fixed time for each KV head of each decoding sequence, in microseconds; where
     *     multiprocessors read sequences by themselves, for up to four per multiprocessor
     * @param latent kernels of latent attention
     */
    public record Attention(
            Efficiency kernel,
            double fp8Bandwidth,
            double fp8OverheadMicros,
            double causalFactor,
            double mixedPerGroup,
            double microsPerChunkToken,
            int numMultiprocessors,
            double microsPerDecodedHead,
            Latent latent) {

        /** Returns the share of the bandwidth that is reached while reading the KV cache. */
        double kvBandwidth(double bytesPerKvElement) {
            return bytesPerKvElement < 2 ? fp8Bandwidth : kernel.bandwidth;
        }

        /** Returns the fixed time of one kernel, in microseconds. */
        double overheadMicros(double bytesPerKvElement) {
            return bytesPerKvElement < 2 ? fp8OverheadMicros : kernel.overheadMicros;
        }
    }

    /**
     * Efficiency of linear attention (Gated DeltaNet).
     *
     * @param chunkOverheadMicros fixed time of all kernels of a layer's prefill chunks, in microseconds
     * @param microsPerSequentialToken time per token of the longest chunk, as a state goes through one block of tokens after
     *     the other, in microseconds
     * @param compute share of the BF16 rate while chunks are computed
     * @param bandwidth share of the memory bandwidth while decodes read and write their states
     */
    public record LinearAttention(
            double chunkOverheadMicros, double microsPerSequentialToken, double compute, double bandwidth) {}

    /**
     * Efficiency of latent attention (MLA).
     *
     * @param compute share of the BF16 rate while prefill chunks compute pairs
     * @param absorbedChunkTokens longest chunk that is absorbed as decodes are, with a KV cache in BF16; 1 if none is
     * @param decodes kernels of decodes with a KV cache in BF16
     * @param fp8Decodes the same with one in FP8
     */
    public record Latent(double compute, int absorbedChunkTokens, LatentDecodes decodes, LatentDecodes fp8Decodes) {

        /** Returns the kernels of decodes. */
        LatentDecodes decodes(double bytesPerKvElement) {
            return bytesPerKvElement < 2 ? fp8Decodes : decodes;
        }

        /** Returns the longest chunk that is absorbed. */
        int absorbedChunkTokens(double bytesPerKvElement) {
            return bytesPerKvElement < 2 ? 1 : absorbedChunkTokens;
        }
    }

    /**
     * Efficiency of latent attention's decodes, which read compressed vectors once for all heads and compute on them,
     * whichever takes longer.
     *
     * @param compute share of the BF16 rate; above 1 if a kernel computes in FP8
     * @param bandwidth share of the memory bandwidth
     * @param overheadMicros fixed time of one kernel, in microseconds
     * @param sequenceBytesPerMicro most bytes of one sequence that are read in a microsecond
     */
    public record LatentDecodes(
            double compute, double bandwidth, double overheadMicros, double sequenceBytesPerMicro) {}

    /**
     * Kernels of routed experts.
     *
     * @param kernels those of a GPU that has all experts or a slice of each, by the format of the weights; every format has one
     * @param expertParallelKernels the same of a GPU that has some experts whole
     * @param halfBandwidthBytes weights of an expert that is read at half of the share of the bandwidth; smaller ones are
     *     read slower
     * @param skew exponent of the power law by which tokens spread over experts in the measurements of these figures; 0 if
     *     all experts are equally likely
     */
    public record Experts(
            Map<WeightFormat, ExpertKernels> kernels,
            Map<WeightFormat, ExpertKernels> expertParallelKernels,
            double halfBandwidthBytes,
            double skew) {

        /** Copies both maps. */
        public Experts {
            kernels = Map.copyOf(kernels);
            expertParallelKernels = Map.copyOf(expertParallelKernels);
        }

        /** Returns experts whose kernels are the same for all formats, however GPUs share them. */
        public static Experts alike(ExpertKernels kernels, double skew) {
            var all = new EnumMap<WeightFormat, ExpertKernels>(WeightFormat.class);
            for (var format : WeightFormat.values()) {
                all.put(format, kernels);
            }
            return new Experts(all, all, 0, skew);
        }

        /** Returns the kernels of a format, of a GPU that has some experts whole or else a slice of each. */
        ExpertKernels kernels(WeightFormat format, boolean isExpertParallel) {
            return Objects.requireNonNull((isExpertParallel ? expertParallelKernels : kernels).get(format));
        }
    }

    /**
     * Efficiency of the kernels of a layer's routed experts, from sorting tokens by expert to adding up what the experts of
     * a token return.
     *
     * @param compute share of the BF16 rate, above 1 where a kernel computes in fewer bits
     * @param bandwidth share of the memory bandwidth at which the products read large experts, and read and write tokens
     * @param routedBandwidth share of the memory bandwidth at which what a token's experts return is activated and added up
     * @param idleRows rows that are computed for an expert beyond its tokens, since kernels compute tiles of them
     * @param overheadMicros fixed time of all of them, in microseconds
     * @param microsPerExpert more of it for each expert of the model, in microseconds
     */
    public record ExpertKernels(
            double compute,
            double bandwidth,
            double routedBandwidth,
            double idleRows,
            double overheadMicros,
            double microsPerExpert) {

        /** Returns the same kernels with so many times their arithmetic per second. */
        public ExpertKernels faster(double gain) {
            return new ExpertKernels(
                    gain * compute, bandwidth, routedBandwidth, idleRows, overheadMicros, microsPerExpert);
        }
    }

    /**
     * An exchange between GPUs, in a ring.
     *
     * @param overheadMicros fixed time, in microseconds
     * @param busGbPerSecond bus bandwidth, in 10^9 B/s
     * @param measured all-reduces by GPUs and bytes, up to as many GPUs as there are in it; null if the line is all there is
     */
    public record AllReduce(
            double overheadMicros,
            double busGbPerSecond,
            @Nullable KernelTable measured) {
        /** That of GPUs with nothing to exchange. */
        public static final AllReduce NONE = new AllReduce(0, Double.POSITIVE_INFINITY, null);

        /** Returns the time of an all-reduce of so many bytes. */
        double micros(int numGpus, double bytes) {
            return measured == null || numGpus > measured.maxKey()
                    ? movedMicros(2.0 * (numGpus - 1) / numGpus * bytes)
                    : measured.micros(numGpus, bytes);
        }

        /** Returns the time of moving so many bytes through each GPU's link. */
        double movedMicros(double bytes) {
            return overheadMicros + bytes / (busGbPerSecond * BYTES_PER_MICRO_AND_GB_PER_SECOND);
        }
    }

    /** Returns bytes per microsecond at the full memory bandwidth. */
    double bytesPerMicro() {
        return bandwidthGbPerSecond * BYTES_PER_MICRO_AND_GB_PER_SECOND;
    }

    /** Returns the operations per microsecond that matrix products in BF16 reach. */
    public double gemmFlopPerMicro() {
        return gemmFlopPerMicro(WeightFormat.BF16);
    }

    /** Returns floating-point operations per microsecond at the full BF16 rate. */
    double flopPerMicro() {
        return bf16Tflops * FLOP_PER_MICRO_AND_TFLOPS;
    }

    /** Returns the arithmetic in FP8, or in BF16 without FP8. */
    double fp8FlopPerMicro() {
        return Math.max(fp8Tflops, bf16Tflops) * FLOP_PER_MICRO_AND_TFLOPS;
    }

    /** Returns whether there are the figures of a data sheet, which the formulas need. */
    public boolean hasDataSheet() {
        return bf16Tflops > 0 && bandwidthGbPerSecond > 0;
    }

    /** Returns the operations per microsecond that matrix products reach in a format. */
    double gemmFlopPerMicro(WeightFormat format) {
        return switch (format) {
            case FP32 -> gemm.compute * (fp32Tflops > 0 ? fp32Tflops * FLOP_PER_MICRO_AND_TFLOPS : flopPerMicro() / 2);
            case BF16, INT4, MXFP4, MXFP4_MARLIN -> gemm.compute * flopPerMicro();
            case NVFP4 ->
                fp4Tflops > 0
                        ? fp4Gemm.compute * fp4Tflops * FLOP_PER_MICRO_AND_TFLOPS
                        : gemmFlopPerMicro(WeightFormat.BF16);
            case FP8, FP8_BLOCK ->
                fp8Tflops > 0
                        ? fp8Gemm.compute * fp8Tflops * FLOP_PER_MICRO_AND_TFLOPS
                        : gemmFlopPerMicro(WeightFormat.BF16);
        };
    }

    /** Returns the fixed time of a matrix product in a format. */
    double gemmOverheadMicros(WeightFormat format) {
        return computesIn8Bits(format)
                ? fp8Gemm.overheadMicros
                : format == WeightFormat.NVFP4 && fp4Tflops > 0 ? fp4Gemm.overheadMicros : gemm.overheadMicros;
    }

    /** Returns how much longer products of a format take by their rows, or null if no longer. */
    @Nullable KernelTable gemmSlowdown(WeightFormat format) {
        return computesIn8Bits(format) ? fp8Slowdown : null;
    }

    private boolean computesIn8Bits(WeightFormat format) {
        return format.isFp8() && fp8Tflops > 0;
    }
}

package understudy.latency;

import org.jspecify.annotations.Nullable;

/**
 * A matrix product of a step, whose time depends on the tokens m: a soft roofline, {@code t0 + sqrt(compute^2 +
 * memory^2)}, and more where the kernel for so many rows does not suit them.
 *
 * @param overheadMicros t0
 * @param computeMicros arithmetic per token
 * @param weightMicros reading all weights once
 * @param activationMicros reading and writing activations, per token
 * @param slowdown by rows, or null if every number of rows has a kernel that suits it
 */
public record Gemm(
        double overheadMicros,
        double computeMicros,
        double weightMicros,
        double activationMicros,
        @Nullable KernelTable slowdown) {

    /** Returns the product of activations {@code m x k} with weights {@code k x n}. */
    public static Gemm of(GpuSpec gpu, WeightFormat format, double n, double k) {
        return of(gpu, format, format.bytes(), n, k);
    }

    /** Returns a product in BF16 whose weights take {@code weightBytes} each. */
    static Gemm unquantized(GpuSpec gpu, double weightBytes, double n, double k) {
        return of(gpu, WeightFormat.BF16, weightBytes, n, k);
    }

    private static Gemm of(GpuSpec gpu, WeightFormat format, double weightBytes, double n, double k) {
        double bytesPerMicro = gpu.gemm().bandwidth() * gpu.bytesPerMicro();
        return new Gemm(
                gpu.gemmOverheadMicros(format),
                2 * n * k / gpu.gemmFlopPerMicro(format),
                weightBytes * n * k / bytesPerMicro,
                2 * (n + k) / bytesPerMicro,
                gpu.gemmSlowdown(format));
    }

    /**
     * Returns the batched product in BF16 of each head's activations {@code m x k} with its own weights {@code k x n}.
     */
    static Gemm ofHeads(GpuSpec gpu, double heads, double n, double k) {
        var one = of(gpu, WeightFormat.BF16, n, k);
        return new Gemm(
                one.overheadMicros,
                heads * one.computeMicros,
                heads * one.weightMicros,
                heads * one.activationMicros,
                one.slowdown);
    }

    /**
     * Returns the product of experts, without a fixed time.
     *
     * @param kernels those of its format
     * @param perToken experts of this GPU that compute a token, on the average
     * @param n outputs of one expert
     * @param k inputs of one expert
     */
    static Gemm ofExperts(
            GpuSpec gpu, GpuSpec.ExpertKernels kernels, WeightFormat format, double perToken, double n, double k) {
        double bytesPerMicro = kernels.bandwidth() * gpu.bytesPerMicro();
        // Each of the two products has half of what an expert takes beside its weights.
        double extraBytes = gpu.experts().halfBandwidthBytes() / 2;
        return new Gemm(
                0,
                2 * perToken * n * k / (kernels.compute() * gpu.flopPerMicro()),
                (format.bytes() * n * k + extraBytes) / bytesPerMicro,
                2 * perToken * (n + k) / bytesPerMicro,
                null);
    }

    /** Returns the time of so many tokens. */
    public double micros(double numTokens) {
        return micros(numTokens, numTokens, 1);
    }

    /**
     * Returns the time of experts.
     *
     * @param numComputed tokens for which there is arithmetic, those that fill up tiles of rows included
     * @param numMatrices experts in use, which are read
     */
    double micros(double numTokens, double numComputed, double numMatrices) {
        double compute = computeMicros * numComputed;
        double memory = weightMicros * numMatrices + activationMicros * numTokens;
        double micros = overheadMicros + Math.sqrt(compute * compute + memory * memory);
        return slowdown == null ? micros : micros * slowdown.micros(numTokens);
    }

    /** Returns the time without overhead if arithmetic and memory never wait for each other. */
    double hardRooflineMicros(double numTokens) {
        return Math.max(computeMicros * numTokens, weightMicros + activationMicros * numTokens);
    }
}

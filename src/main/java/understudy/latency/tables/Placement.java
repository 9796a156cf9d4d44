package understudy.latency.tables;

import understudy.latency.GpuSpec;
import understudy.latency.LlmSpec;
import understudy.latency.Parallelism;

/**
 * A model on a group of GPUs.
 *
 * @param llm the model
 * @param gpu each of the GPUs, for what the roofline has to fill in
 * @param parallelism how they share it
 * @param bytesPerKvElement 2, or 1 with an FP8 KV cache
 * @param mxfp4Activations precision in which MXFP4 experts are multiplied
 * @param moeBackend kernels of experts
 */
public record Placement(
        LlmSpec llm,
        GpuSpec gpu,
        Parallelism parallelism,
        double bytesPerKvElement,
        Mxfp4Activations mxfp4Activations,
        MoeBackend moeBackend) {

    /** Returns how many GPUs share attention and dense layers. */
    int tensorParallelSize() {
        return parallelism.tensorParallelSize();
    }

    /** Returns how many GPUs have other experts than the rest; the others share an expert. */
    int expertParallelSize() {
        return parallelism.enablesExpertParallel() ? parallelism.numExpertGpus() : 1;
    }

    /** Returns how many GPUs share an expert. */
    int expertTensorSize() {
        return parallelism.numExpertGpus() / expertParallelSize();
    }

    /** Returns query heads per GPU. */
    double headsPerRank() {
        return (double) llm.attention().numHeads() / tensorParallelSize();
    }

    /** Returns key and value heads per GPU, of which each has at least one. */
    double kvHeadsPerRank() {
        return Math.max(1, (double) llm.attention().numKvHeads() / tensorParallelSize());
    }
}

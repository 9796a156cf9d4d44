package understudy.latency.tables;

import understudy.latency.GpuSpec;
import understudy.latency.LlmSpec;

/**
 * A model on a group of GPUs.
 *
 * @param llm the model
 * @param gpu each of the GPUs, for what the roofline has to fill in
 * @param tensorParallelSize how many share attention and dense layers, at least 1
 * @param expertParallelSize how many of them have other experts than the rest; the others share an expert
 * @param bytesPerKvElement 2, or 1 with an FP8 KV cache
 */
public record Placement(
        LlmSpec llm, GpuSpec gpu, int tensorParallelSize, int expertParallelSize, double bytesPerKvElement) {

    /** Returns query heads per GPU. */
    double headsPerRank() {
        return (double) llm.attention().numHeads() / tensorParallelSize;
    }

    /** Returns key and value heads per GPU, of which each has at least one. */
    double kvHeadsPerRank() {
        return Math.max(1, (double) llm.attention().numKvHeads() / tensorParallelSize);
    }
}

package understudy.latency;

import org.jspecify.annotations.Nullable;

/**
 * Parallelism of a model over GPUs, as vLLM has it: each data-parallel rank is a replica with attention and dense layers of
 * its own, spread over its tensor-parallel GPUs; experts are spread over the GPUs of all ranks together.
 *
 * @param tensorParallelSize GPUs of one rank
 * @param dataParallelSize ranks that share the experts
 * @param enablesExpertParallel whether a GPU holds some experts whole, instead of a slice of every one
 * @param all2All how tokens reach the experts of other ranks
 */
public record Parallelism(
        int tensorParallelSize, int dataParallelSize, boolean enablesExpertParallel, All2AllBackend all2All) {

    /** Kernels that carry tokens to the experts of other ranks, by vLLM's names; without expert parallelism the first. */
    public enum All2AllBackend {
        /** Every rank gets the tokens of all. */
        ALLGATHER_REDUCESCATTER,
        /** As the others below, a token goes to the GPUs that hold its experts. */
        DEEPEP_HIGH_THROUGHPUT,
        DEEPEP_LOW_LATENCY,
        FLASHINFER_ALL2ALLV
    }

    /** Returns the parallelism of so many GPUs by themselves, each of which has a slice of every matrix. */
    public static Parallelism ofTensors(int tensorParallelSize) {
        return new Parallelism(tensorParallelSize, 1, false, All2AllBackend.ALLGATHER_REDUCESCATTER);
    }

    /** Returns whether there is nothing to exchange. */
    public boolean hasOneGpu() {
        return numExpertGpus() == 1;
    }

    /** Returns whether the GPUs of a rank can share a model: heads, and experts with those of other ranks. */
    public boolean canShare(LlmSpec llm) {
        return llm.attention().numHeads() % tensorParallelSize == 0
                && sharesKvHeadsEvenly(llm.attention())
                && sharesStatesEvenly(llm.linearAttention())
                && sharesExpertsEvenly(llm.feedForward());
    }

    /** Returns whether every GPU has as many heads of keys and values, or every such head is on as many GPUs. */
    public boolean sharesKvHeadsEvenly(LlmSpec.Attention attention) {
        int numKvHeads = attention.numKvHeads();
        return numKvHeads % tensorParallelSize == 0 || tensorParallelSize % numKvHeads == 0;
    }

    /** Returns whether every GPU has as many key heads of linear attention, if there is one. */
    public boolean sharesStatesEvenly(LlmSpec.@Nullable LinearAttention linear) {
        return linear == null || linear.numKeyHeads() % tensorParallelSize == 0;
    }

    /** Returns whether every GPU gets as much of the experts as any other; whole experts need not come out even. */
    public boolean sharesExpertsEvenly(LlmSpec.FeedForward feedForward) {
        return enablesExpertParallel || feedForward.expertSize() % numExpertGpus() == 0;
    }

    /** Returns the GPUs that the experts are spread over. */
    public int numExpertGpus() {
        return tensorParallelSize * dataParallelSize;
    }

    /** Returns the share of a layer's experts that a GPU has something of. */
    double shareOfExperts() {
        return enablesExpertParallel ? 1.0 / numExpertGpus() : 1;
    }

    /** Returns the share of the inner width of those experts that the GPU has. */
    double shareOfWidth() {
        return enablesExpertParallel ? 1 : 1.0 / numExpertGpus();
    }

    /** Returns whether tokens go only to the GPUs that hold their experts. */
    boolean sendsToExpertsOnly() {
        return enablesExpertParallel && all2All != All2AllBackend.ALLGATHER_REDUCESCATTER;
    }
}

package understudy.latency.lora;

import understudy.latency.LlmSpec;

/**
 * Size of a LoRA adapter of rank 1, in elements, and how many kernels a step needs for adapters, whatever their number.
 *
 * <p>Every linear layer has one, as with {@code target_modules="all-linear"}: the projections of attention and of dense
 * feed-forward layers, and of experts that compute every token; routed experts have none. As in vLLM without {@code
 * fully_sharded_loras}, each GPU of a tensor-parallel group has the whole of the first matrix where the layer is cut by
 * columns, and of the second where it is cut by rows ({@code vllm/lora/layers}).
 *
 * @param elements on one GPU, of all layers
 * @param numKernels a shrink and an expand for each fused projection of each layer
 */
public record AdapterSize(double elements, int numKernels) {
    private static final int KERNELS_PER_PROJECTION = 2;

    /** Returns the size on one of several GPUs. */
    public static AdapterSize of(LlmSpec llm, int tensorParallelSize) {
        var attention = attention(llm, tensorParallelSize);
        var dense = feedForward(llm, llm.feedForward().intermediateSize(), tensorParallelSize);
        var shared = feedForward(llm, llm.feedForward().sharedExpertSize(), tensorParallelSize);
        return attention
                .times(llm.numLayers())
                .plus(dense.times(llm.feedForward().numDenseLayers()))
                .plus(shared.times(llm.numMoeLayers()));
    }

    private static AdapterSize attention(LlmSpec llm, int tensorParallelSize) {
        var attention = llm.attention();
        double hidden = llm.hiddenSize();
        double heads = (double) attention.numHeads() / tensorParallelSize;
        var latent = attention.latent();
        if (latent == null) {
            double kvHeads = Math.max(1, (double) attention.numKvHeads() / tensorParallelSize);
            double qkv = 3 * hidden + (heads + 2 * kvHeads) * attention.headDim();
            return projections(2, qkv + heads * attention.headDim() + hidden);
        }
        double perHead = (double) latent.nopeDim() + latent.ropeDim();
        double query =
                latent.queryRank() == 0 ? hidden + heads * perHead : hidden + 2 * latent.queryRank() + heads * perHead;
        double keyValue =
                hidden + 2 * latent.kvRank() + latent.ropeDim() + heads * (latent.nopeDim() + latent.valueDim());
        return projections(latent.queryRank() == 0 ? 4 : 5, query + keyValue + heads * latent.valueDim() + hidden);
    }

    private static AdapterSize feedForward(LlmSpec llm, int innerSize, int tensorParallelSize) {
        double inner = (double) innerSize / tensorParallelSize;
        int numUp = llm.feedForward().numUpMatrices();
        return innerSize == 0
                ? projections(0, 0)
                : projections(2, numUp * (llm.hiddenSize() + inner) + inner + llm.hiddenSize());
    }

    private static AdapterSize projections(int count, double elements) {
        return new AdapterSize(elements, KERNELS_PER_PROJECTION * count);
    }

    private AdapterSize times(int layers) {
        return new AdapterSize(elements * layers, numKernels * layers);
    }

    private AdapterSize plus(AdapterSize other) {
        return new AdapterSize(elements + other.elements, numKernels + other.numKernels);
    }

    /** Returns the bytes of an adapter of this rank in 16 bits. */
    public double bytes(int rank) {
        return 2 * elements * rank;
    }
}

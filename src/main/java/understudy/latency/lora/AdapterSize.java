package understudy.latency.lora;

import understudy.latency.LlmSpec;

/**
 * Size of a LoRA adapter of rank 1 on one GPU, and of what its kernels go through.
 *
 * <p>Every linear layer has one, as with {@code target_modules="all-linear"}: the projections of attention and of dense
 * feed-forward layers, and of experts that compute every token; routed experts have none. As in vLLM without {@code
 * fully_sharded_loras}, each GPU of a tensor-parallel group has the whole of the first matrix where the layer is cut by
 * columns, and of the second where it is cut by rows ({@code vllm/lora/layers}).
 *
 * @param elements of all layers
 * @param numKernels a shrink and an expand for each fused projection of each layer
 * @param numMatrices second matrices, of which a fused projection has several
 * @param inputBlocks blocks of 256 inputs of all of them
 * @param outputBlocks blocks of 128 outputs of all of them
 * @param gridBlocks the same if all matrices of a fused projection were as wide as its widest one
 */
public record AdapterSize(
        double elements, int numKernels, int numMatrices, double inputBlocks, long outputBlocks, long gridBlocks) {
    private static final AdapterSize NONE = new AdapterSize(0, 0, 0, 0, 0, 0);
    private static final int KERNELS_PER_PROJECTION = 2;
    private static final double INPUTS_PER_BLOCK = 256;
    private static final double OUTPUTS_PER_BLOCK = 128;

    /** Returns the size on one of several GPUs. */
    public static AdapterSize of(LlmSpec llm, int tensorParallelSize) {
        var attention = attention(llm, tensorParallelSize);
        var dense = feedForward(llm, llm.feedForward().intermediateSize(), tensorParallelSize);
        var shared = feedForward(llm, llm.feedForward().sharedExpertSize(), tensorParallelSize);
        return attention
                .times(llm.numAttentionLayers())
                .plus(linearAttention(llm, tensorParallelSize))
                .plus(dense.times(llm.feedForward().numDenseLayers()))
                .plus(shared.times(llm.numMoeLayers()));
    }

    private static AdapterSize attention(LlmSpec llm, int tensorParallelSize) {
        var attention = llm.attention();
        double hidden = llm.hiddenSize();
        double heads = (double) attention.numHeads() / tensorParallelSize;
        if (attention.latent() != null) {
            return latentAttention(attention.latent(), hidden, heads);
        }
        double values = heads * attention.headDim();
        double queries = attention.numQueryOutputs() * values;
        double kvHeads = Math.max(1, (double) attention.numKvHeads() / tensorParallelSize);
        double keys = kvHeads * attention.headDim();
        return projection(hidden, queries, keys, keys).plus(projection(values, hidden));
    }

    private static AdapterSize linearAttention(LlmSpec llm, int tensorParallelSize) {
        var attention = llm.linearAttention();
        if (attention == null) {
            return NONE;
        }
        double values = (double) attention.valueSize() / tensorParallelSize;
        double convolved = (double) attention.convSize() / tensorParallelSize;
        return projection(llm.hiddenSize(), convolved, values)
                .plus(projection(values, llm.hiddenSize()))
                .times(attention.numLayers());
    }

    private static AdapterSize latentAttention(LlmSpec.LatentAttention latent, double hidden, double heads) {
        double queries = heads * ((double) latent.nopeDim() + latent.ropeDim());
        var query = latent.queryRank() == 0
                ? projection(hidden, queries)
                : projection(hidden, latent.queryRank()).plus(projection(latent.queryRank(), queries));
        double values = heads * latent.valueDim();
        return query.plus(projection(hidden, (double) latent.kvRank() + latent.ropeDim()))
                .plus(projection(latent.kvRank(), heads * latent.nopeDim() + values))
                .plus(projection(values, hidden));
    }

    private static AdapterSize feedForward(LlmSpec llm, int innerSize, int tensorParallelSize) {
        if (innerSize == 0) {
            return NONE;
        }
        double inner = (double) innerSize / tensorParallelSize;
        var up = llm.feedForward().numUpMatrices() == 1
                ? projection(llm.hiddenSize(), inner)
                : projection(llm.hiddenSize(), inner, inner);
        return up.plus(projection(inner, llm.hiddenSize()));
    }

    /** Returns a projection that vLLM fuses from as many as there are outputs. */
    private static AdapterSize projection(double input, double... outputs) {
        double sum = 0;
        long blocks = 0;
        long widest = 0;
        for (double output : outputs) {
            long own = (long) Math.ceil(output / OUTPUTS_PER_BLOCK);
            sum += output;
            blocks += own;
            widest = Math.max(widest, own);
        }
        int count = outputs.length;
        return new AdapterSize(
                count * input + sum,
                KERNELS_PER_PROJECTION,
                count,
                count * input / INPUTS_PER_BLOCK,
                blocks,
                count * widest);
    }

    private AdapterSize times(int layers) {
        return new AdapterSize(
                elements * layers,
                numKernels * layers,
                numMatrices * layers,
                inputBlocks * layers,
                outputBlocks * layers,
                gridBlocks * layers);
    }

    private AdapterSize plus(AdapterSize other) {
        return new AdapterSize(
                elements + other.elements,
                numKernels + other.numKernels,
                numMatrices + other.numMatrices,
                inputBlocks + other.inputBlocks,
                outputBlocks + other.outputBlocks,
                gridBlocks + other.gridBlocks);
    }

    /** Returns the bytes of an adapter of this rank in 16 bits. */
    public double bytes(int rank) {
        return 2 * elements * rank;
    }
}

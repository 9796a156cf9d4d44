package understudy.latency;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;

/**
 * The dimensions of a transformer that decide what a step costs, as a Hugging Face {@code config.json} gives them.
 *
 * @param name for messages
 * @param numLayers {@code num_hidden_layers}, at least 1
 * @param hiddenSize {@code hidden_size}
 * @param vocabSize {@code vocab_size}
 * @param tiesEmbeddings whether embedding and head are one matrix
 * @param maxPositionEmbeddings longest sequence in tokens that it was made for
 * @param attention the attention of every layer
 * @param feedForward the rest of every layer
 * @param weights format of the matrices of attention and of dense layers
 * @param expertWeights format of the matrices of experts
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record LlmSpec(
        String name,
        int numLayers,
        int hiddenSize,
        int vocabSize,
        boolean tiesEmbeddings,
        int maxPositionEmbeddings,
        Attention attention,
        FeedForward feedForward,
        WeightFormat weights,
        WeightFormat expertWeights)
        implements LlmSpecBuilder.With {

    /**
     * Attention with grouped queries.
     *
     * @param numHeads query heads
     * @param numKvHeads key and value heads
     * @param headDim elements per head, which need not be {@code hiddenSize / numHeads}
     * @param hasQkNorm whether queries and keys are normalized per head
     * @param window tokens that a token of a sliding-window layer attends to, itself included; 0 without such layers
     * @param numWindowLayers how many layers have the window
     * @param latent compressed keys and values (DeepSeek's MLA), or null
     */
    public record Attention(
            int numHeads,
            int numKvHeads,
            int headDim,
            boolean hasQkNorm,
            int window,
            int numWindowLayers,
            @Nullable LatentAttention latent) {

        private Attention withWindowLayers(int count) {
            return new Attention(numHeads, numKvHeads, headDim, hasQkNorm, window, count, latent);
        }

        /** Returns the weights of one layer's projections. */
        long numParams(long hiddenSize) {
            if (latent != null) {
                return latent.numParams(hiddenSize, numHeads);
            }
            long qkv = hiddenSize * (numHeads + 2L * numKvHeads) * headDim;
            return qkv + (long) numHeads * headDim * hiddenSize + (hasQkNorm ? 2L * headDim : 0);
        }

        /** Returns the elements that a token leaves in the cache of one layer on one of several GPUs. */
        double kvElementsPerRank(int tensorParallelSize) {
            return latent != null
                    ? latent.kvRank + latent.ropeDim
                    : 2.0 * headDim * Math.max((double) numKvHeads / tensorParallelSize, 1);
        }
    }

    /**
     * Multi-head latent attention: one compressed vector per token, the same on every GPU.
     *
     * @param queryRank rank of the compressed query, 0 if queries are not compressed
     * @param kvRank rank of the compressed key and value
     * @param ropeDim elements of a head that carry the position
     * @param nopeDim elements of a head that do not
     * @param valueDim elements of a value head
     */
    public record LatentAttention(int queryRank, int kvRank, int ropeDim, int nopeDim, int valueDim) {

        /** Returns the weights of the query projections. */
        private long queryParams(long hiddenSize, long numHeads) {
            long perHead = (long) nopeDim + ropeDim;
            return queryRank == 0
                    ? hiddenSize * numHeads * perHead
                    : hiddenSize * queryRank + queryRank * numHeads * perHead;
        }

        private long numParams(long hiddenSize, long numHeads) {
            return queryParams(hiddenSize, numHeads)
                    + hiddenSize * (kvRank + ropeDim)
                    + kvRank * numHeads * (nopeDim + valueDim)
                    + numHeads * valueDim * hiddenSize;
        }
    }

    /**
     * The feed-forward part: dense, or a mixture of experts behind some dense layers.
     *
     * @param intermediateSize inner width of a dense layer, 0 if there is none
     * @param isGated whether there is a gate beside the up-projection, as in SwiGLU
     * @param numDenseLayers layers that are dense
     * @param numExperts routed experts of the other layers, 0 without experts
     * @param numExpertsPerToken how many of them compute a token
     * @param expertSize inner width of an expert
     * @param sharedExpertSize inner width of all experts together that compute every token, 0 without
     */
    public record FeedForward(
            int intermediateSize,
            boolean isGated,
            int numDenseLayers,
            int numExperts,
            int numExpertsPerToken,
            int expertSize,
            int sharedExpertSize) {

        private FeedForward withDenseLayers(int count) {
            return new FeedForward(
                    intermediateSize, isGated, count, numExperts, numExpertsPerToken, expertSize, sharedExpertSize);
        }

        /** Returns the matrices that lead to the inner width, with the gate. */
        public int numUpMatrices() {
            return isGated ? 2 : 1;
        }

        private long expertParams(long hiddenSize) {
            return numExperts * (numUpMatrices() + 1L) * hiddenSize * expertSize;
        }

        private long denseParams(long hiddenSize, int numMoeLayers) {
            long matrices = numUpMatrices() + 1L;
            long moe = matrices * hiddenSize * sharedExpertSize;
            return numDenseLayers * matrices * hiddenSize * intermediateSize + numMoeLayers * moe;
        }
    }

    /** Returns the model with its weights in another format, those of experts too. */
    public LlmSpec withAllWeights(WeightFormat format) {
        return with().weights(format).expertWeights(format).build();
    }

    /**
     * Returns the heaviest of so many stages of a pipeline, as vLLM cuts it ({@code get_pp_indices}): as many layers as
     * any has, and either the embedding or the head. Layers of another kind are counted as if they were spread evenly.
     */
    public LlmSpec stage(int numStages) {
        return numStages == 1 ? this : ofLayers((numLayers + numStages - 1) / numStages, vocabSize);
    }

    /** Returns the layers alone. */
    public LlmSpec withoutHead() {
        return ofLayers(numLayers, 0);
    }

    private LlmSpec ofLayers(int count, int newVocabSize) {
        return with().numLayers(count)
                .vocabSize(newVocabSize)
                .tiesEmbeddings(true)
                .attention(attention.withWindowLayers(attention.numWindowLayers * count / numLayers))
                .feedForward(feedForward.withDenseLayers(feedForward.numDenseLayers * count / numLayers))
                .build();
    }

    /** Returns the layers with experts. */
    public int numMoeLayers() {
        return numLayers - feedForward.numDenseLayers;
    }

    /** Returns the number of weights, all experts included. */
    public double numParams() {
        return quantizableParams() + expertParams() + unquantizedParams();
    }

    /** Returns the number of weights that compute a token: of the experts, those that it is sent to. */
    public double numActiveParams() {
        double active = feedForward.numExperts == 0
                ? 0
                : (double) feedForward.numExpertsPerToken / feedForward.numExperts * expertParams();
        return numParams() - expertParams() + active;
    }

    /** Returns the bytes of weights on one of several GPUs: experts are on those of all data-parallel ranks together. */
    public double weightBytesPerRank(Parallelism parallelism) {
        double replicated = quantizableParams() * weights.bytes() + unquantizedParams() * weights.unquantizedBytes();
        double experts = expertParams() * expertWeights.bytes();
        return replicated / parallelism.tensorParallelSize() + experts / parallelism.numExpertGpus();
    }

    /**
     * KV cache groups of a model: layers with and without a window share no blocks (vLLM {@code kv_cache_utils.py}).
     *
     * @param size layers of a group; the last of a kind may have fewer, and takes as much memory
     * @param numWindow groups of layers with a window
     * @param numFull groups of the others
     */
    public record LayerGroups(int size, int numWindow, int numFull) {

        static LayerGroups of(int numWindowLayers, int numFullLayers) {
            int fewest = Math.min(numWindowLayers, numFullLayers);
            int most = Math.max(numWindowLayers, numFullLayers);
            int size = fewest == 0 || most < 1.5 * fewest ? most : fewest;
            return new LayerGroups(size, (numWindowLayers + size - 1) / size, (numFullLayers + size - 1) / size);
        }
    }

    /** Returns how vLLM groups the layers. */
    public LayerGroups layerGroups() {
        int numWindowLayers = attention.window > 0 ? attention.numWindowLayers : 0;
        return LayerGroups.of(numWindowLayers, numLayers - numWindowLayers);
    }

    /** Returns the bytes that a token takes in the KV cache of one of several GPUs, all layers together. */
    public double kvBytesPerTokenPerRank(int tensorParallelSize, double bytesPerElement) {
        return kvBytesPerTokenPerRank(numLayers, tensorParallelSize, bytesPerElement);
    }

    /** Returns the same for some of the layers. */
    double kvBytesPerTokenPerRank(int layers, int tensorParallelSize, double bytesPerElement) {
        return layers * attention.kvElementsPerRank(tensorParallelSize) * bytesPerElement;
    }

    private double quantizableParams() {
        return (double) numLayers * attention.numParams(hiddenSize)
                + feedForward.denseParams(hiddenSize, numMoeLayers());
    }

    private double expertParams() {
        return (double) numMoeLayers() * feedForward.expertParams(hiddenSize);
    }

    /** Embedding, head, norms and routers. */
    private double unquantizedParams() {
        double embeddings = (tiesEmbeddings ? 1.0 : 2.0) * vocabSize * hiddenSize;
        double norms = (2.0 * numLayers + 1) * hiddenSize;
        return embeddings + norms + (double) numMoeLayers() * feedForward.numExperts * hiddenSize;
    }
}

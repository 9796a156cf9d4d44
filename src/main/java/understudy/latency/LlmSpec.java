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
 * @param attention the attention of every layer without linear attention
 * @param linearAttention that of the layers that have it in place of attention; null if none has
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
        @Nullable LinearAttention linearAttention,
        FeedForward feedForward,
        WeightFormat weights,
        WeightFormat expertWeights)
        implements LlmSpecBuilder.With {

    /** Over which of their elements queries and keys are normalized. */
    public enum QkNorm {
        /** They are not. */
        NONE,
        /** Over those of each head. */
        PER_HEAD,
        /** Over those of all heads (MiniMax-M2), for which GPUs that share the heads exchange the sums of squares. */
        PER_LAYER
    }

    /**
     * Attention with grouped queries.
     *
     * @param numHeads query heads
     * @param numKvHeads key and value heads
     * @param headDim elements per head, which need not be {@code hiddenSize / numHeads}
     * @param qkNorm how queries and keys are normalized
     * @param hasOutputGate whether what heads return is multiplied by a gate, which the query projection makes, too
     * @param window tokens that a token of a sliding-window layer attends to, itself included; 0 without such layers
     * @param numWindowLayers how many layers have the window
     * @param latent compressed keys and values (DeepSeek's MLA), or null
     */
    public record Attention(
            int numHeads,
            int numKvHeads,
            int headDim,
            QkNorm qkNorm,
            boolean hasOutputGate,
            int window,
            int numWindowLayers,
            @Nullable LatentAttention latent) {

        private Attention withWindowLayers(int count) {
            return new Attention(numHeads, numKvHeads, headDim, qkNorm, hasOutputGate, window, count, latent);
        }

        /** Returns whether queries and keys are normalized. */
        public boolean hasQkNorm() {
            return qkNorm != QkNorm.NONE;
        }

        /** Returns whether GPUs that share the heads exchange what each token's norm needs: two sums of squares in FP32. */
        public boolean exchangesQkNorm(int tensorParallelSize) {
            return qkNorm == QkNorm.PER_LAYER && tensorParallelSize > 1;
        }

        /** Returns what the projection of queries makes for each head: a query, and a gate if there is one. */
        public int numQueryOutputs() {
            return hasOutputGate ? 2 : 1;
        }

        /** Returns the weights of one layer's projections on one of several GPUs, of which each has a key head at least. */
        double numParamsPerRank(double hiddenSize, int tensorParallelSize) {
            double headsPerRank = (double) numHeads / tensorParallelSize;
            if (latent != null) {
                return latent.numParamsPerRank(hiddenSize, headsPerRank);
            }
            double kvHeads = Math.max((double) numKvHeads / tensorParallelSize, 1);
            double inAndOut = (numQueryOutputs() + 1) * headsPerRank + 2 * kvHeads;
            double norms = switch (qkNorm) {
                case NONE -> 0;
                case PER_HEAD -> 2;
                case PER_LAYER -> headsPerRank + kvHeads;
            };
            return (inAndOut * hiddenSize + norms) * headDim;
        }

        /** Returns the bytes that a token leaves in the cache of one layer on one of several GPUs. */
        public double kvBytesPerRank(int tensorParallelSize, double bytesPerElement) {
            return latent != null
                    ? latent.kvBytes(bytesPerElement)
                    : bytesPerElement * 2.0 * headDim * Math.max((double) numKvHeads / tensorParallelSize, 1);
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
     * @param indexer what chooses the tokens that are attended to (DeepSeek's sparse attention), or null if all are
     */
    public record LatentAttention(
            int queryRank,
            int kvRank,
            int ropeDim,
            int nopeDim,
            int valueDim,
            @Nullable Indexer indexer) {

        /** Returns the bytes of a compressed token in the cache of one layer. */
        double vectorBytes(double bytesPerElement) {
            // In FP8 there is a scale for each so many elements, and the position stays in BF16.
            return indexer != null && bytesPerElement < 2
                    ? kvRank + (double) Indexer.SCALE_BYTES * kvRank / Indexer.SCALE_BLOCK + 2.0 * ropeDim
                    : bytesPerElement * (kvRank + ropeDim);
        }

        /** Returns the same with what the indexer keeps. */
        private double kvBytes(double bytesPerElement) {
            return vectorBytes(bytesPerElement) + (indexer == null ? 0 : indexer.keyBytes());
        }

        /** The projections that compress are the same on every GPU. */
        private double numParamsPerRank(double hiddenSize, double headsPerRank) {
            double compression = hiddenSize * (queryRank + kvRank + ropeDim);
            double perHead = (queryRank == 0 ? hiddenSize : queryRank) * (nopeDim + ropeDim)
                    + (double) kvRank * (nopeDim + valueDim)
                    + valueDim * hiddenSize;
            return compression
                    + headsPerRank * perHead
                    + (indexer == null ? 0 : indexer.numParams(hiddenSize, queryRank));
        }
    }

    /**
     * Indexer of DeepSeek's sparse attention (<a href="https://arxiv.org/abs/2512.02556">DeepSeek-V3.2</a>), which is the
     * same on every GPU: a token's queries, made of its compressed query, are weighed against one key of each earlier token,
     * and the tokens that come out highest are attended to.
     *
     * @param numHeads {@code index_n_heads}
     * @param headDim {@code index_head_dim}
     * @param topK {@code index_topk}, the most tokens that are attended to
     */
    public record Indexer(int numHeads, int headDim, int topK) {
        private static final int SCALE_BYTES = 4;
        private static final int SCALE_BLOCK = 128;

        /** Returns the bytes of a token's key, which is kept in FP8 with a scale for each 128 elements. */
        double keyBytes() {
            return headDim + (double) SCALE_BYTES * headDim / SCALE_BLOCK;
        }

        /** Returns whether some token of a chunk has more tokens before it than it attends to. */
        boolean chooses(int chunkTokens, int contextTokens) {
            return chunkTokens + contextTokens > topK;
        }

        private double numParams(double hiddenSize, int queryRank) {
            return (double) queryRank * numHeads * headDim + hiddenSize * (headDim + numHeads);
        }
    }

    /**
     * Linear attention with a state in place of a KV cache (<a href="https://arxiv.org/abs/2412.06464">Gated DeltaNet</a>):
     * queries, keys and values go through a short convolution, then each token changes a matrix for each value head.
     *
     * @param numLayers layers that have it, in place of attention
     * @param numKeyHeads {@code linear_num_key_heads}, of queries as of keys
     * @param numValueHeads {@code linear_num_value_heads}
     * @param keyHeadDim {@code linear_key_head_dim}
     * @param valueHeadDim {@code linear_value_head_dim}
     * @param convWidth {@code linear_conv_kernel_dim}, tokens that the convolution sees
     * @param bytesPerStateElement of the matrices, 4 or 2; what the convolution keeps takes 2
     */
    public record LinearAttention(
            int numLayers,
            int numKeyHeads,
            int numValueHeads,
            int keyHeadDim,
            int valueHeadDim,
            int convWidth,
            double bytesPerStateElement) {

        private LinearAttention withLayers(int count) {
            return new LinearAttention(
                    count, numKeyHeads, numValueHeads, keyHeadDim, valueHeadDim, convWidth, bytesPerStateElement);
        }

        /** Returns the same with matrices of another format. */
        public LinearAttention withBytesPerStateElement(double bytes) {
            return new LinearAttention(
                    numLayers, numKeyHeads, numValueHeads, keyHeadDim, valueHeadDim, convWidth, bytes);
        }

        /** Returns the elements of a token's values, as many as its gate has. */
        public long valueSize() {
            return (long) numValueHeads * valueHeadDim;
        }

        /** Returns the elements of a token that go through the convolution: its query, key and values. */
        public long convSize() {
            return 2L * numKeyHeads * keyHeadDim + valueSize();
        }

        /** Returns the bytes of all matrices of a sequence in one layer. */
        double matrixBytes() {
            return bytesPerStateElement * keyHeadDim * valueSize();
        }

        /** Returns the bytes that a sequence keeps in one layer on one of several GPUs. */
        public double stateBytesPerRank(int tensorParallelSize) {
            return (matrixBytes() + 2.0 * (convWidth - 1) * convSize()) / tensorParallelSize;
        }

        private long numParams(long hiddenSize) {
            return hiddenSize * (convSize() + 2 * valueSize()) + convWidth * convSize() + valueHeadDim;
        }

        /** Returns the weights that are not quantized: those that make each value head's decay and strength. */
        private long numGateParams(long hiddenSize) {
            return 2L * numValueHeads * (hiddenSize + 1);
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
     * @param gatesSharedExpert whether what those return is multiplied by a number that the token makes
     * @param routesInFp32 whether the router has weights in FP32, and computes in it; otherwise in BF16
     */
    public record FeedForward(
            int intermediateSize,
            boolean isGated,
            int numDenseLayers,
            int numExperts,
            int numExpertsPerToken,
            int expertSize,
            int sharedExpertSize,
            boolean gatesSharedExpert,
            boolean routesInFp32) {

        private FeedForward withDenseLayers(int count) {
            return new FeedForward(
                    intermediateSize,
                    isGated,
                    count,
                    numExperts,
                    numExpertsPerToken,
                    expertSize,
                    sharedExpertSize,
                    gatesSharedExpert,
                    routesInFp32);
        }

        /** Returns the matrices that lead to the inner width, with the gate. */
        public int numUpMatrices() {
            return isGated ? 2 : 1;
        }

        /** Returns the bytes of a token's activations that are read and written to have them in the router's format. */
        public double conversionBytes(int hiddenSize) {
            return routesInFp32 ? (WeightFormat.BF16.bytes() + WeightFormat.FP32.bytes()) * hiddenSize : 0;
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
                .linearAttention(
                        linearAttention == null
                                ? null
                                : linearAttention.withLayers(linearAttention.numLayers * count / numLayers))
                .feedForward(feedForward.withDenseLayers(feedForward.numDenseLayers * count / numLayers))
                .build();
    }

    /** Returns the layers with experts. */
    public int numMoeLayers() {
        return numLayers - feedForward.numDenseLayers;
    }

    /** Returns the layers that attend to earlier tokens, and have a KV cache. */
    public int numAttentionLayers() {
        return numLayers - numLinearLayers();
    }

    /** Returns the layers with linear attention. */
    public int numLinearLayers() {
        return linearAttention == null ? 0 : linearAttention.numLayers;
    }

    /** Returns the bytes of the states that a sequence has on one of several GPUs, all layers together. */
    public double stateBytesPerRank(int tensorParallelSize) {
        return linearAttention == null
                ? 0
                : linearAttention.numLayers * linearAttention.stateBytesPerRank(tensorParallelSize);
    }

    /** Returns the number of weights, all experts included. */
    public double numParams() {
        return quantizableParams(1) + expertParams() + unquantizedParams(1);
    }

    /** Returns the number of weights that compute a token: of the experts, those that it is sent to. */
    public double numActiveParams() {
        double active = feedForward.numExperts == 0
                ? 0
                : (double) feedForward.numExpertsPerToken / feedForward.numExperts * expertParams();
        return numParams() - expertParams() + active;
    }

    /**
     * Returns the bytes of weights on one of several GPUs. Experts are on those of all data-parallel ranks together; norms,
     * routers, indexers, the projections that compress queries, keys and values, and the one key head of GPUs that are more
     * than these are on each.
     */
    public double weightBytesPerRank(Parallelism parallelism) {
        int ranks = parallelism.tensorParallelSize();
        return quantizableParams(ranks) * weights.bytes()
                + unquantizedParams(ranks) * weights.unquantizedBytes()
                + extraRouterBytes()
                + expertParams() * expertWeights.bytes() / parallelism.numExpertGpus();
    }

    /**
     * KV cache groups of a model: layers that attend to everything share no blocks with the others (vLLM {@code
     * kv_cache_utils.py}).
     *
     * @param size layers of a group; the last of a kind may have fewer, and takes as much memory
     * @param numPartial groups of layers with a window, or with states
     * @param numFull groups of the others
     */
    public record LayerGroups(int size, int numPartial, int numFull) {

        static LayerGroups of(int numPartialLayers, int numFullLayers) {
            int fewest = Math.min(numPartialLayers, numFullLayers);
            int most = Math.max(numPartialLayers, numFullLayers);
            int size = fewest == 0 || most < 1.5 * fewest ? most : fewest;
            return new LayerGroups(size, (numPartialLayers + size - 1) / size, (numFullLayers + size - 1) / size);
        }
    }

    /** Returns how vLLM groups the layers. */
    public LayerGroups layerGroups() {
        int numPartialLayers = linearAttention != null ? numLinearLayers() : numWindowLayers();
        return LayerGroups.of(numPartialLayers, numLayers - numPartialLayers);
    }

    /** Returns the layers with a window. */
    public int numWindowLayers() {
        return attention.window > 0 ? attention.numWindowLayers : 0;
    }

    /** Returns the bytes that a token takes in the KV cache of one of several GPUs, all layers together. */
    public double kvBytesPerTokenPerRank(int tensorParallelSize, double bytesPerElement) {
        return kvBytesPerTokenPerRank(numAttentionLayers(), tensorParallelSize, bytesPerElement);
    }

    /** Returns the same for some of the layers. */
    double kvBytesPerTokenPerRank(int layers, int tensorParallelSize, double bytesPerElement) {
        return layers * attention.kvBytesPerRank(tensorParallelSize, bytesPerElement);
    }

    private double quantizableParams(int ranks) {
        double linear = linearAttention == null
                ? 0
                : (double) linearAttention.numLayers * linearAttention.numParams(hiddenSize);
        return numAttentionLayers() * attention.numParamsPerRank(hiddenSize, ranks)
                + (linear + feedForward.denseParams(hiddenSize, numMoeLayers())) / ranks;
    }

    private double extraRouterBytes() {
        return feedForward.routesInFp32
                ? (WeightFormat.FP32.bytes() - weights.unquantizedBytes())
                        * numMoeLayers()
                        * feedForward.numExperts
                        * hiddenSize
                : 0;
    }

    private double expertParams() {
        return (double) numMoeLayers() * feedForward.expertParams(hiddenSize);
    }

    /** Embedding, head, norms, routers, and what makes the gates of linear attention. */
    private double unquantizedParams(int ranks) {
        double embeddings = (tiesEmbeddings ? 1.0 : 2.0) * vocabSize * hiddenSize;
        double norms = (2.0 * numLayers + 1) * hiddenSize;
        double gates = linearAttention == null
                ? 0
                : (double) linearAttention.numLayers * linearAttention.numGateParams(hiddenSize);
        int routers = feedForward.numExperts + (feedForward.gatesSharedExpert ? 1 : 0);
        return (embeddings + gates) / ranks + norms + (double) numMoeLayers() * routers * hiddenSize;
    }
}

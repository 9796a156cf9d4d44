package understudy.latency;

/**
 * Time of everything in the layers but attention itself: projections, feed-forward part, norms and activations of one
 * GPU of a tensor-parallel group. Latent attention's ways into and out of what is compressed are attention's.
 */
public final class LayerTime {
    private static final double BYTES = 2;

    private final LlmSpec llm;
    private final GpuSpec gpu;
    private final double ranks;
    private final Gemm[] projections;
    private final Gemm[] linear;
    private final Gemm[] dense;
    private final Gemm[] moe;
    private final ExpertTime experts;
    private final double fixedMicros;
    private final double perTokenMicros;

    /** Describes the group of GPUs. */
    public LayerTime(LlmSpec llm, GpuSpec gpu, Parallelism parallelism) {
        this.llm = llm;
        this.gpu = gpu;
        ranks = parallelism.tensorParallelSize();
        var ffn = llm.feedForward();
        projections = projections();
        linear = linearProjections();
        dense = ffn.numDenseLayers() > 0 ? feedForward(ffn.intermediateSize()) : new Gemm[0];
        moe = llm.numMoeLayers() > 0 ? routerAndSharedExperts() : new Gemm[0];
        experts = new ExpertTime(llm, gpu, parallelism);
        fixedMicros = gpu.elementwise().overheadMicros() * numElementwiseKernels();
        double bytesPerMicro = gpu.elementwise().bandwidth() * gpu.bytesPerMicro();
        perTokenMicros = elementwiseBytes() / bytesPerMicro;
    }

    /** Returns the time of all layers for a step of so many tokens of this rank, and of all ranks that share the experts. */
    double micros(double numTokens, double numGroupTokens) {
        double micros = fixedMicros + perTokenMicros * numTokens;
        micros += llm.numAttentionLayers() * sum(projections, numTokens);
        micros += llm.numLinearLayers() * sum(linear, numTokens);
        micros += llm.feedForward().numDenseLayers() * sum(dense, numTokens);
        if (moe.length > 0) {
            micros += llm.numMoeLayers() * (sum(moe, numTokens) + experts.micros(numGroupTokens));
        }
        return micros;
    }

    /** Returns the time of the products of dense layers alone, if arithmetic and memory never wait for each other. */
    double hardRooflineMicros(double numTokens) {
        double micros = 0;
        for (var gemm : projections) {
            micros += llm.numAttentionLayers() * gemm.hardRooflineMicros(numTokens);
        }
        for (var gemm : dense) {
            micros += llm.feedForward().numDenseLayers() * gemm.hardRooflineMicros(numTokens);
        }
        return micros;
    }

    /** Returns the time of the experts of one layer, by the tokens of all ranks that share them. */
    public double expertMicros(double numGroupTokens) {
        return experts.micros(numGroupTokens);
    }

    private static double sum(Gemm[] gemms, double numTokens) {
        double micros = 0;
        for (var gemm : gemms) {
            micros += gemm.micros(numTokens);
        }
        return micros;
    }

    private Gemm[] projections() {
        var attention = llm.attention();
        var latent = attention.latent();
        double heads = attention.numHeads() / ranks;
        int hidden = llm.hiddenSize();
        if (latent == null) {
            double kvHeads = Math.max(attention.numKvHeads() / ranks, 1);
            return new Gemm[] {
                gemm((attention.numQueryOutputs() * heads + 2 * kvHeads) * attention.headDim(), hidden),
                gemm(hidden, heads * attention.headDim())
            };
        }
        double queryWidth = heads * (latent.nopeDim() + latent.ropeDim());
        int queryRank = latent.queryRank() == 0 ? hidden : latent.queryRank();
        // The way down to the latent vectors is the same on every GPU, and so is the indexer.
        var down = gemm((double) latent.queryRank() + latent.kvRank() + latent.ropeDim(), hidden);
        var up = gemm(queryWidth, queryRank);
        var out = gemm(hidden, heads * latent.valueDim());
        var indexer = latent.indexer();
        return indexer == null
                ? new Gemm[] {down, up, out}
                : new Gemm[] {
                    down,
                    up,
                    out,
                    gemm((double) indexer.numHeads() * indexer.headDim(), queryRank),
                    gemm(indexer.headDim(), hidden),
                    unquantized(indexer.numHeads(), hidden)
                };
    }

    private Gemm[] linearProjections() {
        var attention = llm.linearAttention();
        if (attention == null) {
            return new Gemm[0];
        }
        int hidden = llm.hiddenSize();
        return new Gemm[] {
            gemm((attention.convSize() + attention.valueSize()) / ranks, hidden),
            unquantized(2 * attention.numValueHeads() / ranks, hidden),
            gemm(hidden, attention.valueSize() / ranks)
        };
    }

    private Gemm[] feedForward(int width) {
        double perRank = width / ranks;
        int up = llm.feedForward().numUpMatrices();
        return new Gemm[] {gemm(up * perRank, llm.hiddenSize()), gemm(llm.hiddenSize(), perRank)};
    }

    private Gemm[] routerAndSharedExperts() {
        var ffn = llm.feedForward();
        var router = ffn.routesInFp32()
                ? Gemm.of(gpu, WeightFormat.FP32, ffn.numExperts(), llm.hiddenSize())
                : unquantized(ffn.numExperts(), llm.hiddenSize());
        if (ffn.sharedExpertSize() == 0) {
            return new Gemm[] {router};
        }
        var shared = feedForward(ffn.sharedExpertSize());
        return ffn.gatesSharedExpert()
                ? new Gemm[] {router, shared[0], shared[1], unquantized(1, llm.hiddenSize())}
                : new Gemm[] {router, shared[0], shared[1]};
    }

    private Gemm gemm(double n, double k) {
        return Gemm.of(gpu, llm.weights(), n, k);
    }

    private Gemm unquantized(double n, double k) {
        return Gemm.unquantized(gpu, llm.weights().unquantizedBytes(), n, k);
    }

    /**
     * Two norms, and the rotation, which queries and keys go through twice if they are normalized; then the activation.
     * Latent attention has two norms more, and writes the KV cache by a kernel of its own. An indexer has a norm, two
     * rotations, and two kernels that quantize. In place of the rotation linear attention has one kernel that takes apart what
     * the projections made, the convolution, what makes the gates, and a gated norm.
     */
    private double numElementwiseKernels() {
        var attention = llm.attention();
        var latent = attention.latent();
        int perAttentionLayer = 1
                + (attention.hasQkNorm() ? 1 : 0)
                + (attention.exchangesQkNorm((int) ranks) ? 1 : 0)
                + (attention.hasOutputGate() ? 1 : 0)
                + (latent == null ? 0 : 3)
                + (latent == null || latent.indexer() == null ? 0 : 5);
        // Choosing the experts of each token, for which a router in FP32 needs a copy of it.
        int perMoeLayer = 1
                + (llm.feedForward().routesInFp32() ? 1 : 0)
                + (llm.feedForward().sharedExpertSize() > 0 ? 1 : 0)
                + (llm.feedForward().gatesSharedExpert() ? 2 : 0);
        return 2 * llm.numLayers()
                + perAttentionLayer * llm.numAttentionLayers()
                + 4 * llm.numLinearLayers()
                + llm.feedForward().numDenseLayers()
                + perMoeLayer * (double) llm.numMoeLayers();
    }

    private double elementwiseBytes() {
        var ffn = llm.feedForward();
        double hidden = llm.hiddenSize();
        double norms = 8 * BYTES * hidden;
        // The activation reads both halves, or the one, and writes one.
        double activation = BYTES * (ffn.numUpMatrices() + 1) / ranks;
        // Read, multiplied and written.
        double gated = ffn.gatesSharedExpert() ? 2 * BYTES * hidden : 0;
        return norms * llm.numLayers()
                + 2 * BYTES * elementsOfAttention() * llm.numAttentionLayers()
                + bytesOfLinearAttention()
                + activation * ffn.intermediateSize() * ffn.numDenseLayers()
                + (activation * ffn.sharedExpertSize() + gated + ffn.conversionBytes(llm.hiddenSize()))
                        * llm.numMoeLayers();
    }

    /** Elements that are read and written by rotations and norms within attention. */
    private double elementsOfAttention() {
        var attention = llm.attention();
        var latent = attention.latent();
        if (latent != null) {
            double rotated = (attention.numHeads() / ranks + 1) * latent.ropeDim();
            var indexer = latent.indexer();
            // Rotated, and quantized.
            double indexed = indexer == null ? 0 : 2 * (indexer.numHeads() + 1.0) * indexer.headDim();
            return latent.queryRank() + 2.0 * latent.kvRank() + latent.ropeDim() + rotated + indexed;
        }
        double rotated = (attention.numHeads() + 2.0 * attention.numKvHeads()) * attention.headDim() / ranks;
        // A gate and what it is for are read, and the product is written.
        double gated = attention.hasOutputGate() ? 1.5 * attention.numHeads() * attention.headDim() / ranks : 0;
        // Sums of squares read everything once more, and write next to nothing.
        double summed = attention.exchangesQkNorm((int) ranks) ? 0.5 : 0;
        return rotated * ((attention.hasQkNorm() ? 2 : 1) + summed) + gated;
    }

    /** Everything is taken apart, the convolution reads and writes, the gated norm reads values and gates, and writes. */
    private double bytesOfLinearAttention() {
        var attention = llm.linearAttention();
        return attention == null
                ? 0
                : BYTES * (4.0 * attention.convSize() + 5.0 * attention.valueSize()) / ranks * attention.numLayers();
    }
}

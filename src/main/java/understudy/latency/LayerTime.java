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
        micros += llm.numLayers() * sum(projections, numTokens);
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
            micros += llm.numLayers() * gemm.hardRooflineMicros(numTokens);
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
                gemm((heads + 2 * kvHeads) * attention.headDim(), hidden), gemm(hidden, heads * attention.headDim())
            };
        }
        double queryWidth = heads * (latent.nopeDim() + latent.ropeDim());
        int queryRank = latent.queryRank() == 0 ? hidden : latent.queryRank();
        return new Gemm[] {
            // The way down to the latent vectors is the same on every GPU.
            gemm((double) latent.queryRank() + latent.kvRank() + latent.ropeDim(), hidden),
            gemm(queryWidth, queryRank),
            gemm(hidden, heads * latent.valueDim())
        };
    }

    private Gemm[] feedForward(int width) {
        double perRank = width / ranks;
        int up = llm.feedForward().numUpMatrices();
        return new Gemm[] {gemm(up * perRank, llm.hiddenSize()), gemm(llm.hiddenSize(), perRank)};
    }

    private Gemm[] routerAndSharedExperts() {
        var ffn = llm.feedForward();
        var router = Gemm.unquantized(gpu, llm.weights().unquantizedBytes(), ffn.numExperts(), llm.hiddenSize());
        if (ffn.sharedExpertSize() == 0) {
            return new Gemm[] {router};
        }
        var shared = feedForward(ffn.sharedExpertSize());
        return new Gemm[] {router, shared[0], shared[1]};
    }

    private Gemm gemm(double n, double k) {
        return Gemm.of(gpu, llm.weights(), n, k);
    }

    /**
     * Two norms, and the rotation, which queries and keys go through twice if they are normalized; then the activation.
     * Latent attention has two norms more, and writes the KV cache by a kernel of its own.
     */
    private double numElementwiseKernels() {
        int perLayer =
                3 + (llm.attention().hasQkNorm() ? 1 : 0) + (llm.attention().latent() == null ? 0 : 3);
        // Choosing the experts of each token.
        int perMoeLayer = 1 + (llm.feedForward().sharedExpertSize() > 0 ? 1 : 0);
        return perLayer * llm.numLayers()
                + llm.feedForward().numDenseLayers()
                + perMoeLayer * (double) llm.numMoeLayers();
    }

    private double elementwiseBytes() {
        var ffn = llm.feedForward();
        double hidden = llm.hiddenSize();
        double perLayer = 8 * BYTES * hidden + 2 * BYTES * elementsOfAttention();
        // The activation reads both halves, or the one, and writes one.
        double activation = BYTES * (ffn.numUpMatrices() + 1) / ranks;
        return perLayer * llm.numLayers()
                + activation * ffn.intermediateSize() * ffn.numDenseLayers()
                + activation * ffn.sharedExpertSize() * llm.numMoeLayers();
    }

    /** Elements that are read and written by rotations and norms within attention. */
    private double elementsOfAttention() {
        var attention = llm.attention();
        var latent = attention.latent();
        if (latent != null) {
            double rotated = (attention.numHeads() / ranks + 1) * latent.ropeDim();
            return latent.queryRank() + 2.0 * latent.kvRank() + latent.ropeDim() + rotated;
        }
        double rotated = (attention.numHeads() + 2.0 * attention.numKvHeads()) * attention.headDim() / ranks;
        return rotated * (attention.hasQkNorm() ? 2 : 1);
    }
}

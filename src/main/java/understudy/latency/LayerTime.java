package understudy.latency;

/**
 * Time of everything in the layers but attention itself: projections, feed-forward part, norms and activations of one
 * GPU of a tensor-parallel group. Routing to experts counts as uniform.
 */
public final class LayerTime {
    private static final double BYTES = 2;

    private final LlmSpec llm;
    private final GpuSpec gpu;
    private final double ranks;
    private final Gemm[] projections;
    private final Gemm[] dense;
    private final Gemm[] moe;
    private final Gemm expertUp;
    private final Gemm expertDown;
    private final double fixedMicros;
    private final double perTokenMicros;
    private final double logIdleShare;

    /** Describes the group of GPUs. */
    public LayerTime(LlmSpec llm, GpuSpec gpu, int tensorParallelSize) {
        this.llm = llm;
        this.gpu = gpu;
        ranks = tensorParallelSize;
        var ffn = llm.feedForward();
        int hidden = llm.hiddenSize();
        projections = projections();
        dense = ffn.numDenseLayers() > 0 ? feedForward(ffn.intermediateSize()) : new Gemm[0];
        moe = llm.numMoeLayers() > 0 ? routerAndSharedExperts() : new Gemm[0];
        double width = ffn.expertSize() / ranks;
        int perToken = ffn.numExpertsPerToken();
        expertUp = Gemm.ofExperts(gpu, llm.expertWeights(), perToken, ffn.numUpMatrices() * width, hidden);
        expertDown = Gemm.ofExperts(gpu, llm.expertWeights(), perToken, hidden, width);
        fixedMicros = gpu.elementwise().overheadMicros() * numElementwiseKernels();
        perTokenMicros = elementwiseBytes() / (gpu.elementwise().bandwidth() * gpu.bytesPerMicro());
        logIdleShare = ffn.numExperts() == 0 ? 0 : StrictMath.log1p(-(double) perToken / ffn.numExperts());
    }

    /** Returns the time of all layers for a step of so many tokens. */
    double micros(double numTokens) {
        double micros = fixedMicros + perTokenMicros * numTokens;
        micros += llm.numLayers() * sum(projections, numTokens);
        micros += llm.feedForward().numDenseLayers() * sum(dense, numTokens);
        if (moe.length > 0) {
            micros += llm.numMoeLayers() * (sum(moe, numTokens) + expertMicros(numTokens));
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

    /** Returns the time of the projections of one layer's attention. */
    public double projectionMicros(double numTokens) {
        return sum(projections, numTokens);
    }

    /** Returns the time of the experts of one layer. */
    public double expertMicros(double numTokens) {
        double expertsInUse = llm.feedForward().numExperts() * -StrictMath.expm1(numTokens * logIdleShare);
        return expertUp.micros(numTokens, expertsInUse) + expertDown.micros(numTokens, expertsInUse);
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
            gemm(heads * (latent.nopeDim() + latent.valueDim()), latent.kvRank()),
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
     */
    private double numElementwiseKernels() {
        int perLayer = 3 + (llm.attention().hasQkNorm() ? 1 : 0);
        // Beside the activation: sorting tokens by expert, gathering them, and adding up what experts return.
        int perMoeLayer = 4 + (llm.feedForward().sharedExpertSize() > 0 ? 1 : 0);
        return perLayer * llm.numLayers()
                + llm.feedForward().numDenseLayers()
                + perMoeLayer * (double) llm.numMoeLayers();
    }

    private double elementwiseBytes() {
        var ffn = llm.feedForward();
        var attention = llm.attention();
        double hidden = llm.hiddenSize();
        double rotated = (attention.numHeads() + 2.0 * attention.numKvHeads()) * attention.headDim() / ranks;
        double perLayer = 8 * BYTES * hidden + 2 * BYTES * rotated * (attention.hasQkNorm() ? 2 : 1);
        // The activation reads both halves, or the one, and writes one.
        double activation = BYTES * (ffn.numUpMatrices() + 1) / ranks;
        double perMoeLayer =
                activation * (ffn.numExpertsPerToken() * (double) ffn.expertSize() + ffn.sharedExpertSize())
                        + BYTES * (ffn.numExpertsPerToken() + 1) * hidden;
        return perLayer * llm.numLayers()
                + activation * ffn.intermediateSize() * ffn.numDenseLayers()
                + perMoeLayer * llm.numMoeLayers();
    }
}

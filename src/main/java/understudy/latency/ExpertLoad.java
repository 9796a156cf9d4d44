package understudy.latency;

/**
 * Load of the GPU that has the most to do for the routed experts of a layer. Which experts a token needs counts as uniform
 * when they are read; how many tokens an expert gets is not: with expert parallelism the layer waits for the busiest GPU.
 */
final class ExpertLoad {
    /**
     * Standard deviation of the tokens per expert, over their mean: that of the power law of 1.2 by which AIConfigurator
     * measures, where the busiest GPU takes 1.1, 1.4, 1.7, 2.3 and 3.1 times its share (16,384 tokens in MXFP4, 128 experts
     * on 2 to 32 GPUs).
     */
    private static final double DEVIATION = 2;

    private final double numExperts;
    private final double expertsPerToken;
    private final double logIdleShare;
    private final double imbalance;

    /** Describes the experts of a model that has some. */
    ExpertLoad(LlmSpec llm, Parallelism parallelism) {
        var ffn = llm.feedForward();
        numExperts = ffn.numExperts() * parallelism.shareOfExperts();
        expertsPerToken = ffn.numExpertsPerToken() * parallelism.shareOfExperts();
        logIdleShare = StrictMath.log1p(-(double) ffn.numExpertsPerToken() / ffn.numExperts());
        imbalance = parallelism.enablesExpertParallel() ? imbalance(ffn.numExperts(), parallelism.numExpertGpus()) : 1;
    }

    /** Returns the tokens of all ranks by which the busiest GPU has as much to do as if experts were equally loaded. */
    double balancedTokens(double numGroupTokens) {
        return imbalance * numGroupTokens;
    }

    /**
     * Returns the tokens for which there is as much arithmetic as for so many and the rows that fill up the tiles of a
     * kernel. Those are no more than the tokens, as the tiles of few are small.
     *
     * @param idleRows of each expert in use
     */
    double computedTokens(double numTokens, double expertsInUse, double idleRows) {
        return numTokens + Math.min(numTokens, idleRows * expertsInUse / expertsPerToken);
    }

    /** Returns how many of a GPU's experts any token of all ranks needs. */
    double expertsInUse(double numGroupTokens) {
        return numExperts * -StrictMath.expm1(numGroupTokens * logIdleShare);
    }

    /**
     * Returns the largest load of a GPU, over the mean. The sum of {@code E/ep} loads has the deviation {@code d sqrt((ep - 1)
     * / E)}; the largest of ep normal numbers lies {@code 0.56 log2(ep)^0.8} deviations above their mean, within 5 % up to 64.
     */
    static double imbalance(int numExperts, int numGpus) {
        double largest = 0.56 * StrictMath.pow(StrictMath.log(numGpus) / StrictMath.log(2), 0.8);
        double deviation = DEVIATION * StrictMath.sqrt((numGpus - 1.0) / numExperts);
        return Math.min(numGpus, 1 + largest * deviation);
    }
}

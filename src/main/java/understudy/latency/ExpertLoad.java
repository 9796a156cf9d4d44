package understudy.latency;

import org.jspecify.annotations.Nullable;

/**
 * Load of the GPU that has the most to do for the routed experts of a layer. Experts are read if any token needs them;
 * with expert parallelism the layer waits for the busiest GPU.
 */
final class ExpertLoad {
    /**
     * Standard deviation of the tokens per expert, over their mean: that of the power law of 1.2 by which AIConfigurator
     * measures, where the busiest GPU takes 1.1, 1.4, 1.7, 2.3 and 3.1 times its share (16,384 tokens in MXFP4, 128 experts
     * on 2 to 32 GPUs).
     */
    private static final double DEVIATION = 2;

    private static final double LARGEST_LOAD = 0.8;
    private static final int PARTS = 64;
    private static final int MAX_TOKENS = 32_768;

    private final double numExperts;
    private final double expertsPerToken;
    private final double logIdleShare;
    private final @Nullable KernelTable inUseByTokens;
    private final double imbalance;

    /**
     * Describes the experts of a model; of one without any it must not be asked for tokens.
     *
     * @param skew exponent of the power law by which tokens spread over experts, 0 if all are equally likely
     */
    ExpertLoad(LlmSpec llm, Parallelism parallelism, double skew) {
        var ffn = llm.feedForward();
        numExperts = ffn.numExperts() * parallelism.shareOfExperts();
        expertsPerToken = ffn.numExpertsPerToken() * parallelism.shareOfExperts();
        logIdleShare = StrictMath.log1p(-(double) ffn.numExpertsPerToken() / ffn.numExperts());
        inUseByTokens = skew > 0 && numExperts > 0
                ? inUseByTokens(numExperts, (double) ffn.numExpertsPerToken() / ffn.numExperts(), skew)
                : null;
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
        return inUseByTokens == null
                ? numExperts * -StrictMath.expm1(numGroupTokens * logIdleShare)
                : Math.min(numExperts, inUseByTokens.micros(numGroupTokens));
    }

    private static KernelTable inUseByTokens(double numExperts, double shareInUse, double skew) {
        var table = new KernelTable.Builder();
        for (int tokens = 1; tokens <= MAX_TOKENS; tokens += Math.max(1, tokens / 16)) {
            table.add(numExperts * shareInUse(tokens, shareInUse, skew), tokens);
        }
        return table.build();
    }

    /**
     * Returns the share of experts that any of some tokens needs, if the loads of experts are as AIConfigurator draws them:
     * from a power law between 1 and 0.8 times the tokens, here at the middles of equally likely parts.
     *
     * @param meanShare of an expert in a token
     */
    static double shareInUse(int tokens, double meanShare, double skew) {
        double largest = StrictMath.max(1, LARGEST_LOAD * tokens);
        var loads = new double[PARTS];
        double sum = 0;
        for (int i = 0; i < PARTS; i++) {
            double share = (i + 0.5) / PARTS;
            loads[i] = skew == 1
                    ? StrictMath.pow(largest, share)
                    : StrictMath.pow(1 - share * (1 - StrictMath.pow(largest, 1 - skew)), 1 / (1 - skew));
            sum += loads[i];
        }
        double inUse = 0;
        for (double load : loads) {
            double chance = Math.min(1, meanShare * load * PARTS / sum);
            inUse += (1 - StrictMath.pow(1 - chance, tokens)) / PARTS;
        }
        return inUse;
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

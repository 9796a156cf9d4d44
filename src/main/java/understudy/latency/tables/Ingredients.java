package understudy.latency.tables;

/** Constants that tables do not hold, or hold wrongly, fitted once on the serving results of four models on H200. */
final class Ingredients {
    /** Fixed time of an element-wise kernel. */
    static final double ELEMENTWISE_MICROS = 2;

    /** Measured skew of tokens over experts that is taken for that of served requests. */
    static final String DISTRIBUTION = "power_law_1.2";

    private static final double EXPERT_FACTOR = 1.7;
    private static final double EXPERT_FACTOR_FROM_TOKENS = 256;
    private static final double EXPERT_FACTOR_TO_TOKENS = 1024;

    private Ingredients() {}

    /** Returns how much longer than measured experts in FP8 blocks take on Hopper; why is not known. */
    static double hopperExpertFactor(double tokens) {
        double share = (tokens - EXPERT_FACTOR_FROM_TOKENS) / (EXPERT_FACTOR_TO_TOKENS - EXPERT_FACTOR_FROM_TOKENS);
        return 1 + (EXPERT_FACTOR - 1) * Math.min(1, Math.max(0, share));
    }
}

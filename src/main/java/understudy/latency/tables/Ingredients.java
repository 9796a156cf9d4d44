package understudy.latency.tables;

/** Constants that tables do not hold, or hold wrongly, fitted once on the serving results of four models on H200. */
final class Ingredients {
    /** Fixed time of an element-wise kernel. */
    static final double ELEMENTWISE_MICROS = 2;

    /** Measured skew of tokens over experts that is taken for that of served requests. */
    static final String DISTRIBUTION = "power_law_1.2";

    private static final double EXPERT_FACTOR = 1.4;
    private static final double EXPERT_FACTOR_FROM_TOKENS = 256;
    private static final double EXPERT_FACTOR_TO_TOKENS = 1024;

    private Ingredients() {}

    /**
     * Returns how much longer experts in FP8 blocks take on Hopper in FlashInfer's CUTLASS kernels than in Triton's where each GPU
     * has a part of all, of which no table has times. vLLM 0.15 and 0.16 take them; a third of the speed of a server with
     * them is said to be lost (vLLM's pull request 33490).
     */
    static double cutlassExpertFactor(double tokens) {
        double share = (tokens - EXPERT_FACTOR_FROM_TOKENS) / (EXPERT_FACTOR_TO_TOKENS - EXPERT_FACTOR_FROM_TOKENS);
        return 1 + (EXPERT_FACTOR - 1) * Math.min(1, Math.max(0, share));
    }
}

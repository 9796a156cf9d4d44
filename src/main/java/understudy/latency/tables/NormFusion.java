package understudy.latency.tables;

import java.util.function.DoubleUnaryOperator;

/**
 * All-reduces that FlashInfer computes in one kernel with the norm behind them, as vLLM has it do on Blackwell ({@code
 * allreduce_rms_fusion.py}).
 *
 * @param maxElements of two bytes, beyond which exchange and norm are two kernels
 * @param oneShotBelow elements from which on vLLM's own kernel, which tables are of, exchanges in two rounds instead of
 *     one ({@code custom_all_reduce.cuh})
 */
record NormFusion(double maxElements, double oneShotBelow) {
    private static final double ELEMENTS_PER_MIB = 1 << 19;
    private static final int BLACKWELL_ULTRA = 103;

    /** Returns what vLLM fuses on a GPU of Blackwell. */
    static NormFusion of(GpuData gpu, int numGpus) {
        boolean isUltra = gpu.smVersion() >= BLACKWELL_ULTRA;
        double maxMib = numGpus <= 2 ? 64 : numGpus <= 4 ? isUltra ? 64 : 32 : isUltra ? 2 : 1;
        double oneShotMib = numGpus <= 2 ? 2 : numGpus <= 4 ? 0.5 : 0.25;
        return new NormFusion(maxMib * ELEMENTS_PER_MIB, oneShotMib * ELEMENTS_PER_MIB);
    }

    /** Returns the most tokens of so many elements that are fused. */
    long maxTokens(int elementsPerToken) {
        return (long) (maxElements / elementsPerToken);
    }

    /**
     * Returns the time of an exchange in one round, by elements: the measured one as far as vLLM's kernel has one round,
     * and beyond along its last slope, but at most the measured one.
     */
    DoubleUnaryOperator oneShot(Curve measured) {
        var oneRound = measured.below(oneShotBelow);
        return elements -> Math.min(measured.applyAsDouble(elements), oneRound.onLastSlope(elements));
    }

    /**
     * Returns the time of an exchange and a norm, by tokens.
     *
     * @param fused time of both in one kernel, by elements
     * @param exchange time of the exchange by itself, by elements
     * @param norm time of the norm by itself, by tokens
     */
    DoubleUnaryOperator withNorm(
            DoubleUnaryOperator fused,
            DoubleUnaryOperator exchange,
            DoubleUnaryOperator norm,
            double elementsPerToken) {
        return tokens -> {
            double elements = tokens * elementsPerToken;
            return elements <= maxElements
                    ? fused.applyAsDouble(elements)
                    : exchange.applyAsDouble(elements) + norm.applyAsDouble(tokens);
        };
    }
}

package understudy.latency.tables;

import java.util.List;
import java.util.function.IntUnaryOperator;

/** Sum of kernels by their common number of tokens, computed beforehand, so that a step takes one look into an array. */
final class KernelSum {
    private final List<Kernel> kernels;
    private final IntUnaryOperator padding;
    private final double[] micros;

    /**
     * Sums kernels up.
     *
     * @param padding tokens that are computed, by the tokens of a step
     * @param maxTokens most tokens of a step, beyond which times are proportional
     */
    KernelSum(List<Kernel> kernels, IntUnaryOperator padding, int maxTokens) {
        this.kernels = kernels;
        this.padding = padding;
        micros = new double[maxTokens + 1];
        for (int tokens = 1; tokens <= maxTokens; tokens++) {
            int padded = padding.applyAsInt(tokens);
            boolean isKnown = tokens > 1 && padded == padding.applyAsInt(tokens - 1);
            micros[tokens] = isKnown ? micros[tokens - 1] : sum(padded);
        }
    }

    private double sum(int tokens) {
        return kernels.stream().mapToDouble(kernel -> kernel.stepMicros(tokens)).sum();
    }

    /** Returns the time of a step of so many tokens, 0 for none. */
    double micros(int tokens) {
        int last = micros.length - 1;
        return tokens <= last ? micros[tokens] : micros[last] * tokens / last;
    }

    /** Returns the same of one part. */
    double micros(String part, int tokens) {
        return tokens == 0
                ? 0
                : kernels.stream()
                        .filter(kernel -> kernel.part().equals(part))
                        .mapToDouble(kernel -> kernel.stepMicros(padding.applyAsInt(tokens)))
                        .sum();
    }

    /** Returns the parts in the order of the kernels. */
    List<String> parts() {
        return kernels.stream().map(Kernel::part).distinct().toList();
    }
}

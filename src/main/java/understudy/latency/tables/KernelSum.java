package understudy.latency.tables;

import java.util.List;
import java.util.function.IntUnaryOperator;

/** Sum of kernels by their common number of tokens, computed beforehand, so that a step takes one look into an array. */
final class KernelSum {
    private final List<Kernel> kernels;
    private final IntUnaryOperator padding;
    private final double[] graphMicros;
    private final double[] eagerMicros;

    /**
     * Sums kernels up.
     *
     * @param padding tokens that a CUDA graph computes, by those of a step
     * @param maxGraphTokens most tokens of a graph
     * @param maxTokens most tokens of a step, beyond which times are proportional
     */
    KernelSum(List<Kernel> kernels, IntUnaryOperator padding, int maxGraphTokens, int maxTokens) {
        this.kernels = kernels;
        this.padding = padding;
        graphMicros = new double[maxGraphTokens + 1];
        for (int tokens = 1; tokens <= maxGraphTokens; tokens++) {
            int padded = padding.applyAsInt(tokens);
            boolean isKnown = tokens > 1 && padded == padding.applyAsInt(tokens - 1);
            graphMicros[tokens] = isKnown ? graphMicros[tokens - 1] : sum(true, padded);
        }
        eagerMicros = new double[maxTokens + 1];
        for (int tokens = 1; tokens <= maxTokens; tokens++) {
            eagerMicros[tokens] = sum(false, tokens);
        }
    }

    private double sum(boolean isGraph, int tokens) {
        return kernels.stream()
                .mapToDouble(kernel -> kernel.stepMicros(isGraph, tokens))
                .sum();
    }

    /** Returns the time of a step of so many tokens, 0 for none; what is too large for a graph runs without. */
    double micros(boolean isGraph, int tokens) {
        if (isGraph && tokens < graphMicros.length) {
            return graphMicros[tokens];
        }
        int last = eagerMicros.length - 1;
        return tokens <= last ? eagerMicros[tokens] : eagerMicros[last] * tokens / last;
    }

    /** Returns the same of one part. */
    double micros(String part, boolean isGraph, int tokens) {
        boolean isInGraph = isGraph && tokens < graphMicros.length;
        int computed = isInGraph ? padding.applyAsInt(tokens) : tokens;
        return tokens == 0
                ? 0
                : kernels.stream()
                        .filter(kernel -> kernel.part().equals(part))
                        .mapToDouble(kernel -> kernel.stepMicros(isInGraph, computed))
                        .sum();
    }

    /** Returns the parts in the order of the kernels. */
    List<String> parts() {
        return kernels.stream().map(Kernel::part).distinct().toList();
    }
}

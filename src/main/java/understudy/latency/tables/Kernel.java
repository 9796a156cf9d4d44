package understudy.latency.tables;

import java.util.function.DoubleUnaryOperator;

/**
 * A kernel whose time depends on the tokens that it computes, or on the sequences that sample.
 *
 * @param part part of the step that its time counts for, for explanations
 * @param count how often it runs in a step
 * @param graphMicros time of one run within a CUDA graph, by tokens
 * @param eagerMicros time of one run that is launched by itself
 */
record Kernel(String part, double count, DoubleUnaryOperator graphMicros, DoubleUnaryOperator eagerMicros) {

    /** Describes a kernel that takes as long in a graph as by itself. */
    Kernel(String part, double count, DoubleUnaryOperator micros) {
        this(part, count, micros, micros);
    }

    double stepMicros(boolean isGraph, double tokens) {
        return count * (isGraph ? graphMicros : eagerMicros).applyAsDouble(tokens);
    }
}

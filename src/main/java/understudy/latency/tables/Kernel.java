package understudy.latency.tables;

import java.util.function.DoubleUnaryOperator;

/**
 * A kernel whose time depends on the tokens that it computes, or on the sequences that sample.
 *
 * @param part what its time is spent on, for explanations
 * @param count how often it runs in a step
 * @param micros time of one run, by tokens
 */
record Kernel(String part, double count, DoubleUnaryOperator micros) {

    double stepMicros(double tokens) {
        return count * micros.applyAsDouble(tokens);
    }
}

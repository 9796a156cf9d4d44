package understudy.latency.tables;

import java.util.function.DoubleUnaryOperator;

/**
 * Time of kernels that read and write each element once: norms, rotations, activations.
 *
 * @param overheadMicros fixed time of one
 * @param bytesPerMicro that they move
 */
record ElementwiseTime(double overheadMicros, double bytesPerMicro) {

    /** Returns the time by tokens of a kernel that moves so many bytes for each. */
    DoubleUnaryOperator kernel(double bytesPerToken) {
        return tokens -> overheadMicros + bytesPerToken * tokens / bytesPerMicro;
    }
}

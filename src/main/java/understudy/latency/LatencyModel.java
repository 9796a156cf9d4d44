package understudy.latency;

import java.util.List;

/** Predicts how long a GPU, or a group of GPUs that work as one, takes to run one step. */
@FunctionalInterface
public interface LatencyModel {

    /**
     * Returns the duration of one step, in nanoseconds, always at least 1. Pure: equal batches give equal durations.
     * Costs time in proportion to the prefill chunks, not to the decodes.
     */
    long stepNanos(BatchShape batch);

    /** Returns where a step's time goes; the parts add up to {@link #stepNanos} before rounding. */
    default List<Share> explain(BatchShape batch) {
        return List.of(new Share("step", stepNanos(batch)));
    }

    /** Returns the sources of the model, a line each, as far as settings do not name them. */
    default List<String> sources() {
        return List.of();
    }

    /**
     * Returns what the user should know before believing it, a line each.
     *
     * @param maxTokens most tokens of a step
     * @param maxSequences most sequences of a step
     * @param maxContext most tokens of a sequence
     */
    default List<String> warnings(int maxTokens, int maxSequences, int maxContext) {
        return List.of();
    }

    /** Rounds a predicted duration to whole nanoseconds, at least 1, so that a step always moves the clock. */
    static long roundToNanos(double nanos) {
        return Math.max(1, Math.round(nanos));
    }
}

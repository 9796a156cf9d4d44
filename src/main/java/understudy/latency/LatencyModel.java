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

    /** Rounds a predicted duration to whole nanoseconds, at least 1, so that a step always moves the clock. */
    static long roundToNanos(double nanos) {
        return Math.max(1, Math.round(nanos));
    }
}

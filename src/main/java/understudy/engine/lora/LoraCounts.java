package understudy.engine.lora;

import understudy.latency.BatchShape;

/**
 * LoRA adapters of a replica's steps.
 *
 * @param numSteps with at least one
 * @param numAdapters different ones of each step, added up
 * @param numLoads adapters read from disk, for a step or a call
 * @param numActivations adapters copied to the GPU, likewise
 */
public record LoraCounts(long numSteps, long numAdapters, long numLoads, long numActivations) {
    public static final LoraCounts NONE = new LoraCounts(0, 0, 0, 0);

    /** Returns the counts with those of one more step. */
    public LoraCounts plus(BatchShape.Loras step) {
        return step.numAdapters() == 0
                ? this
                : plus(new LoraCounts(1, step.numAdapters(), step.numLoads(), step.numActivations()));
    }

    /** Returns the counts with adapters that were loaded between two steps. */
    public LoraCounts plusLoaded(BatchShape.Loras loaded) {
        return plus(new LoraCounts(0, 0, loaded.numLoads(), loaded.numActivations()));
    }

    public LoraCounts plus(LoraCounts other) {
        return new LoraCounts(
                numSteps + other.numSteps,
                numAdapters + other.numAdapters,
                numLoads + other.numLoads,
                numActivations + other.numActivations);
    }

    /** Returns the mean over steps with adapters, or 0 without any. */
    public double meanAdaptersPerStep() {
        return numSteps == 0 ? 0 : (double) numAdapters / numSteps;
    }
}

package understudy.engine;

/**
 * The settings of {@link RoseinferPlanner}.
 *
 * @param maxBatchSize most requests that are taken in at a time, and most that one decode step serves; at least 1
 * @param prefill how the prompts that are taken in together are computed
 * @param maxModelLen longest sequence in tokens, prompt and output together, at least 2
 * @param blockSize tokens per KV block, at least 1
 * @param enablePrefixCaching whether prompts stay findable
 * @param sharesWithinStep whether the KV cache shares a prompt as soon as there are blocks for it, so that equal prompts
 *     taken in together are computed once; else it has to be told, with a step's result, what has been computed
 */
public record RoseinferConfig(
        int maxBatchSize,
        PrefillMode prefill,
        int maxModelLen,
        int blockSize,
        boolean enablePrefixCaching,
        boolean sharesWithinStep)
        implements PlannerConfig {

    /** Checks the ranges. */
    public RoseinferConfig {
        if (maxBatchSize < 1 || maxModelLen < 2 || blockSize < 1) {
            throw new IllegalArgumentException(
                    "maxBatchSize " + maxBatchSize + ", maxModelLen " + maxModelLen + ", blockSize " + blockSize);
        }
    }

    @Override
    public Planner createPlanner() {
        return new RoseinferPlanner(this);
    }

    @Override
    public int maxNumSeqs() {
        return maxBatchSize;
    }

    /** Nothing is cut to a budget here: a whole batch of the longest prompts is one forward. */
    @Override
    public int maxNumBatchedTokens() {
        return (int) Math.min(Integer.MAX_VALUE, (long) maxBatchSize * maxModelLen);
    }

    @Override
    public int maxStepsInFlight() {
        return 1;
    }

    /** Returns what the application of a step's result goes by, which is the same for all engines. */
    StepUpdate.Settings updateSettings() {
        return new StepUpdate.Settings(maxModelLen, blockSize, enablePrefixCaching, sharesWithinStep, false);
    }
}

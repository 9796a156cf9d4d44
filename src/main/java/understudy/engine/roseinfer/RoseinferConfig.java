package understudy.engine.roseinfer;

/**
 * The settings of {@link RoseinferPlanner}.
 *
 * @param maxNumSeqs its {@code max_batch_size}: most requests that are taken in at a time, and most that one decode
 *     step serves; at least 1
 * @param prefill how the prompts that are taken in together are computed
 */
public record RoseinferConfig(int maxNumSeqs, PrefillMode prefill) {
    /** Computation of the prompts that an engine takes in together. */
    public enum PrefillMode {
        /** One forward for each prompt, one after the other (roseinfer before its prefill was batched). */
        SERIAL,
        /** One forward for all prompts that are not cached. */
        BATCHED
    }

    /** Checks the range. */
    public RoseinferConfig {
        if (maxNumSeqs < 1) {
            throw new IllegalArgumentException("maxNumSeqs " + maxNumSeqs);
        }
    }
}

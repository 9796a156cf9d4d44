package understudy.routing;

/** Part of a replica in a cluster. */
public enum Role {
    /** It computes prompts, and goes on with the answers. */
    BOTH,
    /** It computes prompts for others. */
    PREFILL,
    /**
     * It goes on with the answers to prompts that others have computed, and computes a prompt if no other replica does.
     */
    DECODE;

    /** Returns whether it answers requests. */
    public boolean answers() {
        return this != PREFILL;
    }
}

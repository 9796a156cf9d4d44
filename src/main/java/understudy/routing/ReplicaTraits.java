package understudy.routing;

/**
 * Traits of a replica that a router is configured with.
 *
 * @param group name of the group of like replicas that it belongs to, or empty
 * @param weight capacity in relation to the others, above 0
 * @param numGpuBlocks size of its KV cache in blocks
 * @param prefill how long it takes to compute a prompt
 * @param role its part in the cluster
 */
public record ReplicaTraits(String group, double weight, int numGpuBlocks, PrefillEstimate prefill, Role role) {
    /** Creates a replica that does everything. */
    public ReplicaTraits(String group, double weight, int numGpuBlocks, PrefillEstimate prefill) {
        this(group, weight, numGpuBlocks, prefill, Role.BOTH);
    }

    /** A replica like all others, of which no more is known. */
    public static final ReplicaTraits PLAIN = new ReplicaTraits("", 1, 1, PrefillEstimate.perToken(0));

    /** Returns how long a prompt takes of which so much is cached; its last token is computed in any case. */
    public double prefillNanos(int numTokens, int numCachedTokens) {
        return prefill.nanos(numTokens, Math.min(numCachedTokens, numTokens - 1));
    }
}

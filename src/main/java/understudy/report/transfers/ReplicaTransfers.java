package understudy.report.transfers;

import org.jspecify.annotations.Nullable;

/**
 * Figures of a replica about where the KV of its prompts came from.
 *
 * @param requestTokens prompt tokens of the requests that have got a token of their answer here
 * @param legTokens prompt tokens of those that it has only computed for another replica
 * @param traffic of its memories, one after the other; null without a connector
 */
public record ReplicaTransfers(
        PromptTokens requestTokens,
        PromptTokens legTokens,
        @Nullable KvTraffic traffic) {
    /** No prompts, and no connector. */
    public static final ReplicaTransfers NONE = new ReplicaTransfers(PromptTokens.NONE, PromptTokens.NONE, null);

    /** Returns both together. */
    public ReplicaTransfers plus(ReplicaTransfers other) {
        return new ReplicaTransfers(
                requestTokens.plus(other.requestTokens),
                legTokens.plus(other.legTokens),
                joined(traffic, other.traffic));
    }

    /** Returns the same with one more memory, if there is one. */
    public ReplicaTransfers with(@Nullable KvTraffic memory) {
        return new ReplicaTransfers(requestTokens, legTokens, joined(traffic, memory));
    }

    private static @Nullable KvTraffic joined(@Nullable KvTraffic first, @Nullable KvTraffic second) {
        if (first == null || second == null) {
            return first == null ? second : first;
        }
        return first.plus(second);
    }

    /** Returns the same with the prompt of one more request. */
    public ReplicaTransfers with(PromptTokens prompt, boolean isLeg) {
        return isLeg
                ? new ReplicaTransfers(requestTokens, legTokens.plus(prompt), traffic)
                : new ReplicaTransfers(requestTokens.plus(prompt), legTokens, traffic);
    }

    /** Returns the prompt tokens of all that it was given. */
    public PromptTokens promptTokens() {
        return requestTokens.plus(legTokens);
    }
}

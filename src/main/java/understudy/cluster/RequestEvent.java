package understudy.cluster;

import understudy.engine.FinishReason;

/** What the sender of a request hears of it. Times are virtual nanoseconds. */
public sealed interface RequestEvent {

    long requestId();

    /** The router has chosen a replica; only for senders that stream. */
    record Admitted(long requestId, int replicaIndex) implements RequestEvent {}

    /** One more output token has been sampled; only for senders that stream. */
    record Token(long requestId, int numOutputTokens, long atNanos) implements RequestEvent {}

    /**
     * The answer is complete.
     *
     * @param numCachedTokens prompt tokens found in the cache at the first admission
     * @param numOutputTokens length of the answer
     */
    record Finished(long requestId, FinishReason reason, int numCachedTokens, int numOutputTokens, long atNanos)
            implements RequestEvent {}

    /** The request can never be served; {@code reason} says why, for people. */
    record Rejected(long requestId, String reason, long atNanos) implements RequestEvent {}
}

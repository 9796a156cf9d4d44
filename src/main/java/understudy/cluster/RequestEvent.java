package understudy.cluster;

import understudy.engine.AnswerProgress;
import understudy.engine.FinishReason;
import understudy.report.Outcome;

/** Event of a request, told to its sender. Times are virtual nanoseconds. */
public sealed interface RequestEvent {

    long requestId();

    /** The router has chosen a replica; only for senders that stream. */
    record Admitted(long requestId, int replicaIndex) implements RequestEvent {}

    /** One more output token has been sampled, or several at once; only for senders that stream. */
    record Token(long requestId, int numOutputTokens, long atNanos) implements RequestEvent {}

    /** Last event of a request that was accepted. */
    sealed interface Ended extends RequestEvent {

        /** Returns how many prompt tokens were found in the cache at the first admission. */
        int numCachedTokens();

        /** Returns how many output tokens were sampled. */
        int numOutputTokens();

        long atNanos();

        /** Returns where and when it was served. */
        Timing timing();
    }

    /** The answer is complete. */
    record Finished(
            long requestId, FinishReason reason, int numCachedTokens, int numOutputTokens, long atNanos, Timing timing)
            implements Ended {}

    /** Cause of an answer that is incomplete, or never began. */
    enum FailureCause {
        /** The replica crashed. */
        CRASH,
        /** An error was asked for. */
        INJECTED_ERROR,
        /** The answer was to break off after so many tokens. */
        CUT,
        /** The answer was to break off after so many tokens, and its connection to be reset. */
        RESET,
        /** The replica's KV cache has shrunk, and cannot hold the request any more. */
        KV_CACHE_SHRUNK,
        /** The KV of the prompt could not be loaded from elsewhere. */
        KV_LOAD_FAILED,
        /** Another replica was to compute the prompt, and has failed. */
        PREFILL_FAILED,
        /** The engine has forgotten it, and its sender has waited until nothing happened any more. */
        LOST,
        /** The engine has ended it by itself, since it had no room for it. */
        OUT_OF_MEMORY,
        /** The engine has ended it by itself, since it had too much to do. */
        OVERLOAD,
        /** No replica takes requests. */
        NO_REPLICA
    }

    /**
     * Failure of a request: no complete answer will come; {@code reason} says why, for people.
     *
     * @param status that was asked for with an {@link FailureCause#INJECTED_ERROR}, else 0
     */
    record Failed(
            long requestId,
            FailureCause cause,
            String reason,
            int numCachedTokens,
            int numOutputTokens,
            long atNanos,
            Timing timing,
            int status)
            implements Ended {}

    /**
     * Replica of a request, and the times of its progress; 0 stands for never.
     *
     * @param replicaIndex the last replica, or {@code RequestRecord.NO_REPLICA}
     * @param queuedNanos when it entered the waiting queue
     * @param scheduledNanos when it was first admitted
     * @param firstTokenNanos when its first token was sampled
     */
    record Timing(int replicaIndex, long queuedNanos, long scheduledNanos, long firstTokenNanos) {

        public static Timing of(AnswerProgress progress, int replicaIndex) {
            return new Timing(
                    replicaIndex,
                    Math.max(0, progress.queuedNanos()),
                    Math.max(0, progress.scheduledNanos()),
                    Math.max(0, progress.firstTokenNanos()));
        }
    }

    /** The request was turned away; {@code reason} says why, for people, and {@code outcome} in a word. */
    record Rejected(long requestId, Outcome outcome, String reason, long atNanos) implements RequestEvent {}
}

package understudy.report;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.longs.LongList;
import understudy.engine.AnswerProgress;
import understudy.engine.Request;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.SessionTurn;

/**
 * Record of a request that has ended, with all that a report says about it. Times are virtual nanoseconds.
 *
 * @param requestId unique in the run
 * @param replicaIndex index of the replica on which it ended, from 0, or {@link #NO_REPLICA}
 * @param outcome its end
 * @param arrivalNanos when its sender sent it
 * @param queuedNanos when it entered the replica's waiting queue
 * @param scheduledNanos when it was first admitted
 * @param firstTokenNanos when its first token was sampled
 * @param lastTokenNanos when its last token was sampled; for one without tokens, when it ended
 * @param endNanos when it ended
 * @param numPromptTokens at least 1
 * @param numCachedTokens prompt tokens found in the cache at the first admission
 * @param numOutputTokens length of the answer
 * @param numPreemptions how often it lost its blocks
 * @param priority smaller is more urgent
 * @param turn its place in a conversation
 * @param events outcome of the prefix lookup, at {@code scheduledNanos}
 * @param tokenNanos when each output token was sampled, or empty unless details are kept
 */
@RecordBuilder
public record RequestRecord(
        long requestId,
        int replicaIndex,
        Outcome outcome,
        long arrivalNanos,
        long queuedNanos,
        long scheduledNanos,
        long firstTokenNanos,
        long lastTokenNanos,
        long endNanos,
        int numPromptTokens,
        int numCachedTokens,
        int numOutputTokens,
        int numPreemptions,
        int priority,
        SessionTurn turn,
        PrefixCacheEvents events,
        LongList tokenNanos) {
    /** In place of a replica's index: the request never reached one. */
    public static final int NO_REPLICA = -1;

    /** Returns the record of a request that has ended at {@code atNanos}; what had not happened happens then. */
    public static RequestRecord ended(
            Request request, AnswerProgress progress, int replicaIndex, Outcome outcome, long atNanos) {
        return new RequestRecord(
                request.id(),
                replicaIndex,
                request.isPrefillLeg() ? Outcome.PREFILL_LEG : outcome,
                request.arrivalNanos(),
                happened(progress.queuedNanos(), atNanos),
                happened(progress.scheduledNanos(), atNanos),
                happened(progress.firstTokenNanos(), atNanos),
                happened(progress.lastTokenNanos(), atNanos),
                atNanos,
                progress.numPromptTokens(),
                progress.numCachedTokens(),
                progress.numTokens(),
                progress.numPreemptions(),
                request.priority(),
                request.prompt().turn(),
                progress.events(),
                progress.tokenNanos());
    }

    private static long happened(long nanos, long endNanos) {
        return nanos == AnswerProgress.NEVER ? endNanos : nanos;
    }

    /** Returns the prompt tokens that were left to compute at the first admission. */
    public int numPrefilledTokens() {
        return numPromptTokens - numCachedTokens;
    }

    /** Returns when its prompt was computed: with the first token, or at its admission if all of it was found. */
    public long prefillEndNanos() {
        return events.contains(PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED) ? scheduledNanos : firstTokenNanos;
    }

    /** Returns the time from arrival to first token. */
    public long ttftNanos() {
        return firstTokenNanos - arrivalNanos;
    }

    /** Returns the time from arrival to last token. */
    public long e2elNanos() {
        return lastTokenNanos - arrivalNanos;
    }

    /** Returns the time from entering the waiting queue to the first admission. */
    public long queueTimeNanos() {
        return scheduledNanos - queuedNanos;
    }

    /** Returns the mean time per output token after the first; the answer must have two or more tokens. */
    public double tpotNanos() {
        return (double) (lastTokenNanos - firstTokenNanos) / (numOutputTokens - 1);
    }
}

package understudy.engine;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import understudy.kvcache.PrefixCacheEvents;

/**
 * Progress of an answer, over all replicas that have worked on it: how much of it there is, and when that came. Times
 * are virtual nanoseconds, or {@link #NEVER}.
 *
 * @param numPromptTokens tokens of the prompt, without any of the answer
 * @param numCachedTokens prompt tokens found in the cache at the first admission
 * @param numTokens tokens of the answer
 * @param numPreemptions how often the request lost its blocks
 * @param queuedNanos when it entered a waiting queue
 * @param scheduledNanos when it was first admitted
 * @param firstTokenNanos when its first token was sampled
 * @param lastTokenNanos when its latest token was sampled
 * @param events outcome of the prefix lookup at the first admission
 * @param tokenNanos when each token was sampled, or empty unless that is kept
 */
@RecordBuilder
public record AnswerProgress(
        int numPromptTokens,
        int numCachedTokens,
        int numTokens,
        int numPreemptions,
        long queuedNanos,
        long scheduledNanos,
        long firstTokenNanos,
        long lastTokenNanos,
        PrefixCacheEvents events,
        LongList tokenNanos) {
    /** In place of a time: it has not happened. */
    public static final long NEVER = -1;

    /** Returns the progress of a request that is in no waiting queue yet. */
    static AnswerProgress none(int numPromptTokens) {
        return new AnswerProgress(
                numPromptTokens, 0, 0, 0, NEVER, NEVER, NEVER, NEVER, PrefixCacheEvents.NONE, LongLists.EMPTY_LIST);
    }

    /** Returns how far a request has come on its replica, and on those before. */
    public static AnswerProgress of(EngineRequest request, LongList tokenNanos) {
        var earlier = request.request().earlier();
        if (earlier != null) {
            return earlier.continuedBy(request, tokenNanos);
        }
        boolean hasTokens = request.numOutputTokens() > 0;
        return new AnswerProgress(
                request.numPromptTokens(),
                request.numCachedTokens(),
                request.numOutputTokens(),
                request.numPreemptions(),
                request.queuedNanos(),
                request.lastStep() > 0 ? request.scheduledNanos() : NEVER,
                hasTokens ? request.firstTokenNanos() : NEVER,
                hasTokens ? request.lastTokenNanos() : NEVER,
                request.prefixCacheEvents(),
                tokenNanos);
    }

    private AnswerProgress continuedBy(EngineRequest request, LongList allTokenNanos) {
        return new AnswerProgress(
                numPromptTokens,
                numCachedTokens,
                request.numAnswerTokens(),
                numPreemptions + request.numPreemptions(),
                queuedNanos,
                scheduledNanos,
                firstTokenNanos,
                request.lastTokenNanos(),
                events,
                allTokenNanos);
    }
}

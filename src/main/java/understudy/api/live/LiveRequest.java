package understudy.api.live;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import understudy.api.call.Generation;
import understudy.api.http.Json;
import understudy.report.RequestRecord;

/**
 * A request as the live page shows it. Times are virtual nanoseconds.
 *
 * @param replicaIndex null if it is not known
 * @param state an outcome, or {@code in flight}
 * @param timing null for one that has not ended
 * @param firstTokenNanos null before the first token, and while tokens are not followed one by one
 */
record LiveRequest(
        long id,
        @Nullable Integer replicaIndex,
        String state,
        int numPromptTokens,
        int numOutputTokens,
        long arrivalNanos,
        @Nullable Long firstTokenNanos,
        @Nullable Timing timing) {

    /**
     * What is known at the end.
     *
     * @param scheduledNanos when it was first admitted, or when it ended without that
     */
    record Timing(long scheduledNanos, long endNanos, int numCachedTokens) {}

    static LiveRequest of(RequestRecord ended) {
        return new LiveRequest(
                ended.requestId(),
                ended.replicaIndex() < 0 ? null : ended.replicaIndex(),
                ended.outcome().name().toLowerCase(Locale.ROOT),
                ended.numPromptTokens(),
                ended.numOutputTokens(),
                ended.arrivalNanos(),
                ended.numOutputTokens() == 0 ? null : ended.firstTokenNanos(),
                new Timing(ended.scheduledNanos(), ended.lastTokenNanos(), ended.numCachedTokens()));
    }

    static LiveRequest of(Generation generation) {
        return new LiveRequest(
                generation.id(),
                generation.replicaIndex(),
                "in flight",
                generation.spec().prompt().length(),
                generation.numTokens(),
                generation.arrivalNanos(),
                generation.firstTokenNanos(),
                null);
    }

    ObjectNode toJson() {
        return Json.object()
                .put("id", id)
                .put("replica", replicaIndex)
                .put("state", state)
                .put("promptTokens", numPromptTokens)
                .put("cachedTokens", timing == null ? null : timing.numCachedTokens)
                .put("outputTokens", numOutputTokens)
                .put("arrival", arrivalNanos / 1e9)
                .put("scheduled", timing == null ? null : Double.valueOf(timing.scheduledNanos / 1e9))
                .put("firstToken", firstTokenNanos == null ? null : Double.valueOf(firstTokenNanos / 1e9))
                .put("end", timing == null ? null : Double.valueOf(timing.endNanos / 1e9));
    }
}

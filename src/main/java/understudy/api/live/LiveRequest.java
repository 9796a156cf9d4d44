package understudy.api.live;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import understudy.api.call.Generation;
import understudy.report.RequestRecord;

/**
 * A request as the live page gets it. Times are virtual seconds; null is what is not known, or not yet.
 *
 * @param state an outcome, or {@code in flight}
 * @param scheduled when it was first admitted, or when it ended without that
 */
record LiveRequest(
        long id,
        @Nullable Integer replica,
        String state,
        int promptTokens,
        @Nullable Integer cachedTokens,
        int outputTokens,
        double arrival,
        @Nullable Double scheduled,
        @Nullable Double firstToken,
        @Nullable Double end) {

    static LiveRequest of(RequestRecord ended) {
        return new LiveRequest(
                ended.requestId(),
                ended.replicaIndex() < 0 ? null : ended.replicaIndex(),
                ended.outcome().name().toLowerCase(Locale.ROOT),
                ended.numPromptTokens(),
                ended.numCachedTokens(),
                ended.numOutputTokens(),
                ended.arrivalNanos() / 1e9,
                ended.scheduledNanos() / 1e9,
                ended.numOutputTokens() == 0 ? null : Double.valueOf(ended.firstTokenNanos() / 1e9),
                ended.lastTokenNanos() / 1e9);
    }

    static LiveRequest of(Generation generation) {
        Long firstTokenNanos = generation.firstTokenNanos();
        return new LiveRequest(
                generation.id(),
                generation.replicaIndex(),
                "in flight",
                generation.spec().prompt().length(),
                null,
                generation.numTokens(),
                generation.arrivalNanos() / 1e9,
                null,
                firstTokenNanos == null ? null : Double.valueOf(firstTokenNanos / 1e9),
                null);
    }
}

package understudy.api.live;

import io.soabase.recordbuilder.core.RecordBuilder;
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
@RecordBuilder
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
        return LiveRequestBuilder.builder()
                .id(ended.requestId())
                .replica(ended.replicaIndex() < 0 ? null : ended.replicaIndex())
                .state(ended.outcome().name().toLowerCase(Locale.ROOT))
                .promptTokens(ended.numPromptTokens())
                .cachedTokens(ended.numCachedTokens())
                .outputTokens(ended.numOutputTokens())
                .arrival(ended.arrivalNanos() / 1e9)
                .scheduled(ended.scheduledNanos() / 1e9)
                .firstToken(ended.numOutputTokens() == 0 ? null : Double.valueOf(ended.firstTokenNanos() / 1e9))
                .end(ended.lastTokenNanos() / 1e9)
                .build();
    }

    static LiveRequest of(Generation generation) {
        Long firstTokenNanos = generation.firstTokenNanos();
        return LiveRequestBuilder.builder()
                .id(generation.id())
                .replica(generation.replicaIndex())
                .state("in flight")
                .promptTokens(generation.spec().prompt().length())
                .cachedTokens(null)
                .outputTokens(generation.numTokens())
                .arrival(generation.arrivalNanos() / 1e9)
                .scheduled(null)
                .firstToken(firstTokenNanos == null ? null : Double.valueOf(firstTokenNanos / 1e9))
                .end(null)
                .build();
    }
}

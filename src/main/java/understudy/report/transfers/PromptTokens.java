package understudy.report.transfers;

import java.util.EnumMap;
import java.util.Map;
import understudy.engine.EngineRequest;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvSource;

/**
 * Prompt tokens by where their KV came from at the first admission of their requests. A last token whose KV was found
 * and that is run again for its logits is no computed one.
 *
 * @param numComputed computed by the replica itself (vLLM {@code local_compute})
 * @param numLocal found in its prefix cache (vLLM {@code local_cache_hit})
 * @param external from elsewhere (vLLM {@code external_kv_transfer}); none from a source that is missing
 */
public record PromptTokens(long numComputed, long numLocal, Map<KvSource, Long> external) {
    /** No tokens. */
    public static final PromptTokens NONE = new PromptTokens(0, 0, Map.of());

    /** Returns the tokens of a request that was admitted. */
    public static PromptTokens of(EngineRequest request) {
        int numCached = request.numCachedTokens();
        long numComputed = (long) request.numPromptTokens() - numCached;
        var match = request.external();
        if (match.source() == null) {
            return new PromptTokens(numComputed, numCached, NONE.external);
        }
        return new PromptTokens(numComputed, numCached - match.numTokens(), sources(match));
    }

    private static Map<KvSource, Long> sources(ExternalMatch match) {
        var found = new EnumMap<KvSource, Long>(KvSource.class);
        for (var source : KvSource.values()) {
            int numTokens = match.numTokensFrom(source);
            if (numTokens > 0) {
                found.put(source, (long) numTokens);
            }
        }
        return Map.copyOf(found);
    }

    /** Returns the sums. */
    public PromptTokens plus(PromptTokens other) {
        return new PromptTokens(
                numComputed + other.numComputed, numLocal + other.numLocal, sums(external, other.external));
    }

    private static Map<KvSource, Long> sums(Map<KvSource, Long> first, Map<KvSource, Long> second) {
        if (first.isEmpty() || second.isEmpty()) {
            return first.isEmpty() ? second : first;
        }
        var sums = new EnumMap<>(first);
        second.forEach((source, count) -> sums.merge(source, count, Long::sum));
        return Map.copyOf(sums);
    }

    public long from(KvSource source) {
        return external.getOrDefault(source, 0L);
    }

    public long numExternal() {
        long sum = 0;
        for (long count : external.values()) {
            sum += count;
        }
        return sum;
    }

    public long numCached() {
        return numLocal + numExternal();
    }

    public long total() {
        return numComputed + numCached();
    }
}

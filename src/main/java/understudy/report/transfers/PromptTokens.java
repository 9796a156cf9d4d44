package understudy.report.transfers;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import understudy.engine.EngineRequest;
import understudy.kvcache.connector.KvSource;

/**
 * Prompt tokens by where their KV came from at the first admission of their requests. A last token whose KV was found
 * and that is run again for its logits is no computed one.
 *
 * @param numComputed computed by the replica itself (vLLM {@code local_compute})
 * @param numLocal found in its prefix cache (vLLM {@code local_cache_hit})
 * @param external from elsewhere, by {@link KvSource} (vLLM {@code external_kv_transfer})
 */
public record PromptTokens(long numComputed, long numLocal, LongList external) {
    /** No tokens. */
    public static final PromptTokens NONE =
            new PromptTokens(0, 0, LongArrayList.of(new long[KvSource.values().length]));

    /** Returns the tokens of a request that was admitted. */
    public static PromptTokens of(EngineRequest request) {
        int numCached = request.numCachedTokens();
        int numExternal = request.numExternalTokens();
        var source = request.kvSource();
        long numComputed = (long) request.numPromptTokens() - numCached;
        if (source == null) {
            return new PromptTokens(numComputed, numCached, NONE.external);
        }
        long[] external = new long[KvSource.values().length];
        external[source.ordinal()] = numExternal;
        return new PromptTokens(numComputed, (long) numCached - numExternal, LongArrayList.of(external));
    }

    /** Returns the sums. */
    public PromptTokens plus(PromptTokens other) {
        long[] sums = external.toLongArray();
        for (int i = 0; i < sums.length; i++) {
            sums[i] += other.external.getLong(i);
        }
        return new PromptTokens(numComputed + other.numComputed, numLocal + other.numLocal, LongArrayList.of(sums));
    }

    public long from(KvSource source) {
        return external.getLong(source.ordinal());
    }

    public long numExternal() {
        return external.longStream().sum();
    }

    public long numCached() {
        return numLocal + numExternal();
    }

    public long total() {
        return numComputed + numCached();
    }
}

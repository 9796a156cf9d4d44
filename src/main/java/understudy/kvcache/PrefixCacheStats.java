package understudy.kvcache;

/**
 * Prefix-cache lookups of admitted requests, in tokens (vLLM {@code PrefixCacheStats}). Those of requests that come
 * back after a preemption are counted apart, so that they do not flatter the hit rate.
 *
 * @param queries tokens of requests looked up at their first admission
 * @param hits how many of {@code queries} were found
 * @param preemptedQueries tokens of requests looked up again after a preemption
 * @param preemptedHits how many of {@code preemptedQueries} were found
 */
public record PrefixCacheStats(long queries, long hits, long preemptedQueries, long preemptedHits) {
    /** No lookups. */
    public static final PrefixCacheStats NONE = new PrefixCacheStats(0, 0, 0, 0);

    /** Returns the share of queried tokens that were found, 0 to 1, without those after preemptions. */
    public double hitRate() {
        return queries == 0 ? 0 : (double) hits / queries;
    }

    /** Returns these counts and one more admission. */
    public PrefixCacheStats plus(boolean isResumed, int numTokens, int numHitTokens) {
        return isResumed
                ? new PrefixCacheStats(queries, hits, preemptedQueries + numTokens, preemptedHits + numHitTokens)
                : new PrefixCacheStats(queries + numTokens, hits + numHitTokens, preemptedQueries, preemptedHits);
    }

    /** Returns the sums. */
    public PrefixCacheStats plus(PrefixCacheStats other) {
        return new PrefixCacheStats(
                queries + other.queries,
                hits + other.hits,
                preemptedQueries + other.preemptedQueries,
                preemptedHits + other.preemptedHits);
    }
}

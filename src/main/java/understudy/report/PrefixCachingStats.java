package understudy.report;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;

/**
 * Effect of prefix caching on the answered requests: the summary metrics of the session cache.
 *
 * <p>Eligible is a request that looked into the cache. Prefilled tokens are those of the prompt that were not found at
 * the first admission; what a preempted request computes once more is not counted.
 *
 * @param answered all requests that were answered
 * @param eligible requests that looked into the cache
 * @param conversationalTurns eligible follow-up turns
 * @param conversationalHits follow-up turns that found some of their conversation
 * @param crossRequestHits requests that found a prefix which others have left
 * @param fullMisses requests that found nothing
 * @param fullHits requests that went straight to decode
 * @param unexpectedPrompts follow-up turns that do not go on from what is cached of their session
 * @param cachedTokensOfHits tokens found by all hits
 * @param prefilledTokens prompt tokens that all answered requests computed
 * @param promptTokens prompt tokens of all answered requests
 * @param ttftOfHits from arrival to first token of requests that found something
 * @param ttftOfMisses from arrival to first token of eligible requests that found nothing
 */
public record PrefixCachingStats(
        long answered,
        long eligible,
        long conversationalTurns,
        long conversationalHits,
        long crossRequestHits,
        long fullMisses,
        long fullHits,
        long unexpectedPrompts,
        long cachedTokensOfHits,
        long prefilledTokens,
        long promptTokens,
        LatencyStats ttftOfHits,
        LatencyStats ttftOfMisses) {

    /** Computes the figures of the answered requests of a log. */
    public static PrefixCachingStats of(RequestLog log) {
        var counts = new Counts();
        log.completed().forEach(counts::add);
        return counts.stats();
    }

    public long hits() {
        return conversationalHits + crossRequestHits;
    }

    /** Returns whether there is more to tell than that nothing was found. */
    public boolean isMeaningful() {
        return hits() > 0 || conversationalTurns > 0;
    }

    /** Returns the share of eligible requests that found something, 0 to 1. */
    public double hitRate() {
        return ratio(hits(), eligible);
    }

    /** Returns the share of follow-up turns that found some of their conversation, 0 to 1. */
    public double conversationalHitRate() {
        return ratio(conversationalHits, conversationalTurns);
    }

    /** Returns the share of requests without a conversational hit that found what others have left, 0 to 1. */
    public double crossRequestHitRate() {
        return ratio(crossRequestHits, eligible - conversationalHits);
    }

    /** Returns the mean {@code cached_prefix_length_used} of the hits. */
    public double meanCachedTokensOfHits() {
        return ratio(cachedTokensOfHits, hits());
    }

    /** Returns the mean {@code num_tokens_actually_prefilled} of all answered requests. */
    public double meanPrefilledTokens() {
        return ratio(prefilledTokens, answered);
    }

    /** Returns the share of prompt tokens that were prefilled, 0 to 1. */
    public double prefilledShare() {
        return ratio(prefilledTokens, promptTokens);
    }

    private static double ratio(long part, long whole) {
        return whole == 0 ? 0 : (double) part / whole;
    }

    /** Sums up requests. */
    private static final class Counts {
        private final long[] numByMask = new long[PrefixCacheEvents.MASKS];
        private final DoubleArrayList ttftOfHits = new DoubleArrayList();
        private final DoubleArrayList ttftOfMisses = new DoubleArrayList();
        private long numAnswered;
        private long numEligible;
        private long numConversationalTurns;
        private long cachedTokensOfHits;
        private long prefilledTokens;
        private long promptTokens;

        void add(RequestRecord request) {
            numAnswered++;
            prefilledTokens += request.numPrefilledTokens();
            promptTokens += request.numPromptTokens();
            if (!request.events().isEmpty()) {
                addEligible(request);
            }
        }

        private void addEligible(RequestRecord request) {
            var events = request.events();
            numEligible++;
            numConversationalTurns += request.turn().isConversationalTurn() ? 1 : 0;
            numByMask[events.mask()]++;
            cachedTokensOfHits += events.isHit() ? request.numCachedTokens() : 0;
            (events.isHit() ? ttftOfHits : ttftOfMisses).add((double) request.ttftNanos());
        }

        PrefixCachingStats stats() {
            return new PrefixCachingStats(
                    numAnswered,
                    numEligible,
                    numConversationalTurns,
                    count(PrefixCacheEvent.CONVERSATIONAL_HIT),
                    count(PrefixCacheEvent.CROSS_REQUEST_HIT),
                    count(PrefixCacheEvent.MISS_FULL),
                    count(PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED),
                    count(PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT),
                    cachedTokensOfHits,
                    prefilledTokens,
                    promptTokens,
                    LatencyStats.of(ttftOfHits.toDoubleArray()),
                    LatencyStats.of(ttftOfMisses.toDoubleArray()));
        }

        private long count(PrefixCacheEvent event) {
            long count = 0;
            for (int mask = 0; mask < numByMask.length; mask++) {
                count += new PrefixCacheEvents(mask).contains(event) ? numByMask[mask] : 0;
            }
            return count;
        }
    }
}

package understudy.report;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Arrays;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.report.latency.LatencyStats;

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
@RecordBuilder
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
        return new Counts(log).stats();
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

    /** The columns of the answered requests. */
    private static final class Counts {
        private final RequestLog log;
        private final long[] masks;
        private final long[] cachedTokens;
        private final long[] numByMask = new long[PrefixCacheEvents.MASKS];
        private final boolean[] isHit = new boolean[PrefixCacheEvents.MASKS];

        Counts(RequestLog log) {
            this.log = log;
            masks = log.completed(log.events);
            cachedTokens = log.completed(log.cachedTokens);
            for (int mask = 0; mask < isHit.length; mask++) {
                isHit[mask] = new PrefixCacheEvents(mask).isHit();
            }
            for (long mask : masks) {
                numByMask[(int) mask]++;
            }
        }

        PrefixCachingStats stats() {
            long promptTokens = sum(log.completed(log.promptTokens));
            return PrefixCachingStatsBuilder.builder()
                    .answered(masks.length)
                    .eligible(masks.length - numByMask[0])
                    .conversationalTurns(numConversationalTurns())
                    .conversationalHits(count(PrefixCacheEvent.CONVERSATIONAL_HIT))
                    .crossRequestHits(count(PrefixCacheEvent.CROSS_REQUEST_HIT))
                    .fullMisses(count(PrefixCacheEvent.MISS_FULL))
                    .fullHits(count(PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED))
                    .unexpectedPrompts(count(PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT))
                    .cachedTokensOfHits(sum(ofEligible(cachedTokens, true)))
                    .prefilledTokens(promptTokens - sum(cachedTokens))
                    .promptTokens(promptTokens)
                    .ttftOfHits(ttft(true))
                    .ttftOfMisses(ttft(false))
                    .build();
        }

        private long numConversationalTurns() {
            long[] turns = log.completed(log.turns);
            long count = 0;
            for (int i = 0; i < turns.length; i++) {
                count += masks[i] != 0 && turns[i] > 1 ? 1 : 0;
            }
            return count;
        }

        private LatencyStats ttft(boolean ofHits) {
            return LatencyStats.between(
                    ofEligible(log.completed(log.arrivalNanos), ofHits),
                    ofEligible(log.completed(log.firstTokenNanos), ofHits));
        }

        /** Returns the numbers of a column for those eligible requests that have found something, or nothing. */
        private long[] ofEligible(long[] column, boolean ofHits) {
            long[] found = new long[column.length];
            int size = 0;
            for (int i = 0; i < column.length; i++) {
                if (masks[i] != 0 && isHit[(int) masks[i]] == ofHits) {
                    found[size++] = column[i];
                }
            }
            return Arrays.copyOf(found, size);
        }

        private long count(PrefixCacheEvent event) {
            long count = 0;
            for (int mask = 0; mask < numByMask.length; mask++) {
                count += new PrefixCacheEvents(mask).contains(event) ? numByMask[mask] : 0;
            }
            return count;
        }

        private static long sum(long[] numbers) {
            return Arrays.stream(numbers).sum();
        }
    }
}

package understudy.chaos.gateway.reference;

import org.jspecify.annotations.Nullable;

/**
 * Load of a replica: the gateway's own requests, of which it is sure, and those of others, of which the metrics tell. Metrics
 * are left out that are not credible, or have not changed for too long: those of a replica without requests say nothing new,
 * and those of one with requests change.
 */
final class ReplicaLoad {
    private static final long MAX_AGE_NANOS = 1_000_000_000L;

    /** Requests of others that count at most, so that our own still do beside a figure that is out of all measure. */
    private static final double MAX_OTHERS = 64;

    /** Requests that a full KV cache counts for. */
    private static final double FULL_CACHE = 4;

    private static final double SATURATED = 1_000;

    private final WrongDecision wrong;
    private LoadMetrics metrics = LoadMetrics.NONE;
    private String text = "";
    private long changedNanos = Long.MIN_VALUE;
    private double others;
    private double mostFinished;
    private long grownNanos = Long.MAX_VALUE;

    ReplicaLoad(WrongDecision wrong) {
        this.wrong = wrong;
    }

    /**
     * Takes what a scrape has brought.
     *
     * @param scraped the text, or null if there was none
     * @param numOwn requests of the gateway that are under way there
     */
    void onScraped(@Nullable String scraped, long numOwn, long nowNanos) {
        if (scraped == null) {
            metrics = wrong == WrongDecision.BELIEVES_METRICS ? metrics : LoadMetrics.NONE;
            return;
        }
        if (!scraped.equals(text)) {
            text = scraped;
            changedNanos = nowNanos;
        }
        metrics = LoadMetrics.of(scraped);
        if (metrics.numFinished().orElse(0) >= mostFinished) {
            mostFinished = metrics.numFinished().orElse(0);
            grownNanos = nowNanos;
        }
        others = Math.max(0, Math.min(MAX_OTHERS, metrics.numRequests() - numOwn));
    }

    /** Returns the load in requests. */
    double requests(long numOwn, long nowNanos) {
        return switch (wrong) {
            case BELIEVES_METRICS -> metrics.isCredible() ? metrics.numRequests() : numOwn;
            case BELIEVES_NAN -> metrics.isWhole() ? metrics.numRequests() : numOwn;
            case MISSING_IS_IDLE -> metrics.numRequests();
            default ->
                numOwn
                        + (isBelieved(nowNanos)
                                ? others + FULL_CACHE * metrics.kvCacheUsage().orElse(0)
                                : 0);
        };
    }

    private boolean isBelieved(long nowNanos) {
        return metrics.isCredible() && nowNanos - changedNanos <= MAX_AGE_NANOS;
    }

    /** Returns whether the gateway wrongly takes the replica for one that cannot serve. */
    boolean isTurnedAway(long nowNanos) {
        return switch (wrong) {
            case COUNTERS_ONLY_GROW -> nowNanos - grownNanos > MAX_AGE_NANOS;
            case TURNS_AWAY_BY_QUEUE -> metrics.numWaiting().orElse(0) > SATURATED;
            default -> false;
        };
    }
}

package understudy.plan;

import java.util.LinkedHashMap;
import java.util.Map;
import understudy.report.LatencyName;

/**
 * Limit of one statistic of a latency over all requests of a run.
 *
 * @param statistic as reports name it: mean, median, p90, p95, p99 or max
 * @param millis longest time
 */
public record Limit(LatencyName latency, String statistic, double millis) {
    /** Requests that must lie above a statistic before a short load may refute by it. */
    static final int FEWEST_ABOVE = 20;

    /** Share of the requests that are not above a statistic, from the lowest on. */
    private static final Map<String, Double> SHARES = new LinkedHashMap<>();

    static {
        SHARES.put("median", 0.5);
        SHARES.put("p90", 0.9);
        SHARES.put("p95", 0.95);
        SHARES.put("p99", 0.99);
        SHARES.put("max", 1.0);
    }

    /** Returns the key of the figure in reports. */
    String key() {
        return latency.keyOf(statistic);
    }

    /**
     * Returns the key of the highest statistic, up to the limit's own, above which a short load has enough requests
     * to say something about a longer one; the mean stays what it is.
     */
    String firmKey(long numRequests) {
        double own = SHARES.getOrDefault(statistic, -1.0);
        if (own < 0) {
            return key();
        }
        String firm = "median";
        for (var entry : SHARES.entrySet()) {
            double numAbove = (1 - entry.getValue()) * numRequests;
            if (entry.getValue() <= own && numAbove >= FEWEST_ABOVE - 1e-6) {
                firm = entry.getKey();
            }
        }
        return latency.keyOf(firm);
    }

    /** Returns the name as people read it, such as {@code p99 TTFT}. */
    String title() {
        return statistic + " " + latency.name();
    }
}

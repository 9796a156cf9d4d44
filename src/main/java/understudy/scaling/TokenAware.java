package understudy.scaling;

import understudy.latency.ApiDelay;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;

/**
 * llm-d's token-aware scaling: enough replicas to compute the prompts that are under way within a time, and enough
 * memory for what decodes, {@code max(ceil(inflight tokens / V_P / threshold), ceil(sum of KV use / target))}.
 *
 * <p>llm-d scales prefill and decode pods apart; here each replica does both, and so the larger number counts. Cached
 * prompt tokens are left out as far as the routing policy knows of them.
 *
 * @param prefillTokensPerSecond V_P: prompt tokens that a replica computes per second, above 0
 * @param thresholdSeconds time in which all prompts under way should be computed, above 0
 * @param targetKvUsage share of a replica's blocks that may be in use, above 0
 */
public record TokenAware(double prefillTokensPerSecond, double thresholdSeconds, double targetKvUsage)
        implements ScalingRule {

    @Override
    public int desired(ScalingMetrics metrics) {
        double forPrefill = metrics.inflightTokens() / prefillTokensPerSecond / thresholdSeconds;
        double forDecode = ScalingMetric.KV_CACHE_USAGE_PERC.ofCluster(metrics) / targetKvUsage;
        return (int) Math.ceil(Math.max(forPrefill, forDecode));
    }

    /** Returns V_P as llm-d measures it: the tokens of one full chunk, divided by its TTFT on an idle replica. */
    public static double prefillTokensPerSecond(LatencyModel latency, int chunkTokens, ApiDelay apiDelay) {
        var batch = new BatchShape.Builder();
        batch.add(chunkTokens, 0, true);
        return chunkTokens * 1e9 / (latency.stepNanos(batch.build()) + apiDelay.nanosOf(chunkTokens));
    }
}

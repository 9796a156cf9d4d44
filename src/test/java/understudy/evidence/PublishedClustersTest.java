package understudy.evidence;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.report.RequestRecord;

/** What llm-d's benchmark of a tiered prefix cache shows without the tiers: caches too small for what comes again. */
final class PublishedClustersTest {
    private static final int PREFIX_TOKENS = 16_000;

    @Test
    void aboveTenRequestsPerSecond_theClusterIsSaturated() throws Exception {
        var run = RoutingRun.run("", PublishedClusters.file("qwen3-32b-h100"), Map.of());
        var five = PublishedClusters.requests(0, run);
        var twenty = PublishedClusters.requests(1_800, run);
        var forty = PublishedClusters.requests(4_200, run);

        // The first 300 of 1,250 shuffled prompts, all different, are of 250 * (1 - 0.76^5) = 187 groups, so that at
        // most
        // 113 find their prefix: 37 %. Later the caches hold 2,384,000 / 4,640,000 = 51 % of all that takes turns.
        assertThat(five).allMatch(request -> request.numCachedTokens() <= PREFIX_TOKENS);
        assertThat(hitRate(five)).isBetween(0.25, 113.0 / 300 * PREFIX_TOKENS / 16_256 + 0.02);
        assertThat(hitRate(forty)).isBetween(0.40, 0.60);
        // Twice as many requests take twice as long: 1,200 and 2,400 at one rate, far below that of their arrival.
        assertThat(lastSeconds(five, 0)).isBetween(60.0, 90.0);
        assertThat(lastSeconds(twenty, 1_800)).isBetween(120.0, 240.0);
        assertThat(lastSeconds(forty, 4_200) / lastSeconds(twenty, 1_800)).isBetween(1.7, 2.3);
    }

    private static double hitRate(List<RequestRecord> requests) {
        return (double) requests.stream()
                        .mapToLong(RequestRecord::numCachedTokens)
                        .sum()
                / requests.stream().mapToLong(RequestRecord::numPromptTokens).sum();
    }

    private static double lastSeconds(List<RequestRecord> requests, int startSeconds) {
        return requests.stream().mapToLong(RequestRecord::lastTokenNanos).max().orElseThrow() / 1e9 - startSeconds;
    }
}

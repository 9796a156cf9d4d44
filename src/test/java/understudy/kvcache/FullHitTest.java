package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.cluster.ClusterFixture;
import understudy.cluster.ListWorkload;
import understudy.engine.Request;
import understudy.kvcache.session.GlobalPrefixLimits;
import understudy.kvcache.session.SessionMode;
import understudy.latency.LinearLatency;
import understudy.prompt.SegmentedTokens;
import understudy.report.Invariants;

/** A prompt of 512 tokens that comes a third time, when all of it is cached, however prefixes are found. */
final class FullHitTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int LENGTH = 512;

    /**
     * A step takes 5 ms and 0.1 ms per token. A decode step gives the first token after 5.1 ms; vLLM computes the last block
     * again, 6.6 ms; by session it is the last token only, which takes as long as a decode step.
     */
    @ParameterizedTest
    @CsvSource({
        "OFF, DECODE_DIRECTLY, 512, 5100000",
        "OFF, RECOMPUTE_LAST_TOKEN, 496, 6600000",
        "SIMPLIFIED, DECODE_DIRECTLY, 512, 5100000",
        "DETAILED, DECODE_DIRECTLY, 512, 5100000",
        "DETAILED, RECOMPUTE_LAST_TOKEN, 511, 5100000"
    })
    void cachedPrompt_isAnsweredSooner(SessionMode mode, FullHit fullHit, int numCached, long ttftNanos) {
        for (boolean isAsync : new boolean[] {false, true}) {
            var cluster = new ClusterFixture();
            cluster.isAsync = isAsync;
            cluster.latency = new LinearLatency(5e6, 1e5, 0, 0);
            cluster.fullHit = fullHit;
            cluster.sessions = mode;
            cluster.globalPrefixes = new GlobalPrefixLimits(256, 2, 10_000);
            var run = cluster.run(new ListWorkload(requests(3)));
            var third = ClusterFixture.requests(run).get(2);

            assertThat(Invariants.check(run)).isEmpty();
            assertThat(third.numCachedTokens()).isEqualTo(numCached);
            assertThat(third.numPrefilledTokens()).isEqualTo(LENGTH - numCached);
            assertThat(third.ttftNanos()).isEqualTo(ttftNanos);
            assertThat(third.prefillEndNanos() - third.scheduledNanos())
                    .as("a decode step is no prefill")
                    .isEqualTo(numCached == LENGTH ? 0 : ttftNanos);
            assertThat(third.numOutputTokens()).isEqualTo(40);
            assertThat(third.events().contains(PrefixCacheEvent.CROSS_REQUEST_HIT))
                    .isTrue();
            assertThat(third.events().contains(PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED))
                    .isEqualTo(numCached == LENGTH);
        }
    }

    private static List<Request> requests(int count) {
        var requests = new ArrayList<Request>();
        for (int i = 0; i < count; i++) {
            requests.add(ListWorkload.request(i, i * SECOND, SegmentedTokens.EMPTY.append(-1, LENGTH), 40));
        }
        return requests;
    }
}

package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterFixture;
import understudy.cluster.ListWorkload;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.kvcache.session.GlobalPrefixLimits;
import understudy.kvcache.session.SessionMode;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.SyntheticTokens;
import understudy.report.PrefixCacheEventsCsv;
import understudy.report.PrefixCachingStats;
import understudy.workload.Workload;

/** All events of the session cache, with their times and tokens, in one run. */
final class PrefixCacheEventsTest {
    private static final long SECOND = 1_000_000_000L;
    private static final SegmentedTokens SYSTEM = SegmentedTokens.EMPTY.append(-100, 64);

    private final ClusterFixture cluster = new ClusterFixture();

    PrefixCacheEventsTest() {
        cluster.fullHit = FullHit.DECODE_DIRECTLY;
        cluster.sessions = SessionMode.DETAILED;
        cluster.globalPrefixes = new GlobalPrefixLimits(64, 2, 1_000);
    }

    @Test
    void everyKindOfEvent_hasItsTimeAndItsTokens() throws IOException {
        var run = cluster.run(workload());
        var csv = new StringWriter();
        PrefixCacheEventsCsv.write(run.requests(), csv);

        // One request a second, admitted as soon as it comes. Session 7 has 40 + 10 tokens after its first turn.
        assertThat(csv.toString().lines().skip(1))
                .containsExactly(
                        "0,0.000000,MISS_FULL,0,40",
                        "1,1000.000000,CONVERSATIONAL_HIT,50,5",
                        "2,2000.000000,CONVERSATIONAL_MISS_UNEXPECTED_PROMPT,0,90",
                        "2,2000.000000,MISS_FULL,0,90",
                        "3,3000.000000,MISS_FULL,0,70",
                        "4,4000.000000,MISS_FULL,0,71",
                        "5,5000.000000,CROSS_REQUEST_HIT,64,8",
                        "6,6000.000000,CROSS_REQUEST_HIT,64,0",
                        "6,6000.000000,FULL_HIT_NO_PREFILL_NEEDED,64,0",
                        "7,7000.000000,CONVERSATIONAL_MISS_UNEXPECTED_PROMPT,0,2",
                        "7,7000.000000,CROSS_REQUEST_HIT,64,2");
    }

    @Test
    void summary_countsRequestsByWhatTheyFound() {
        var stats = PrefixCachingStats.of(cluster.run(workload()).requests());

        assertThat(stats.eligible()).isEqualTo(8);
        assertThat(stats.conversationalTurns()).isEqualTo(3);
        assertThat(stats.hitRate()).isEqualTo(4 / 8.0);
        assertThat(stats.conversationalHitRate()).isEqualTo(1 / 3.0);
        assertThat(stats.crossRequestHitRate()).isEqualTo(3 / 7.0);
        assertThat(stats.meanCachedTokensOfHits()).isEqualTo((50 + 3 * 64) / 4.0);
        assertThat(stats.meanPrefilledTokens()).isEqualTo((40 + 5 + 90 + 70 + 71 + 8 + 0 + 2) / 8.0);
        assertThat(stats.prefilledShare()).isEqualTo(286 / (286.0 + 50 + 3 * 64));
        assertThat(stats.fullHits()).isEqualTo(1);
        assertThat(stats.fullMisses()).isEqualTo(4);
        assertThat(stats.unexpectedPrompts()).isEqualTo(2);
    }

    private static Workload workload() {
        var opening = SegmentedTokens.EMPTY.append(1, 40);
        return new ListWorkload(List.of(
                request(0, SessionTurn.of(7, 1), opening),
                request(1, SessionTurn.of(7, 2), opening.append(answer(0), 10).append(2, 5)),
                request(2, SessionTurn.of(7, 3), SegmentedTokens.EMPTY.append(3, 90)),
                request(3, SessionTurn.NONE, SYSTEM.append(4, 6)),
                request(4, SessionTurn.NONE, SYSTEM.append(5, 7)),
                request(5, SessionTurn.NONE, SYSTEM.append(6, 8)),
                request(6, SessionTurn.NONE, SYSTEM),
                request(7, SessionTurn.of(7, 4), SYSTEM.append(8, 2))));
    }

    private static Request request(int id, SessionTurn turn, SegmentedTokens tokens) {
        var output = new OutputPlan(new SyntheticTokens(answer(id)), OutputPlan.ENDLESS);
        return Request.of(id, id * SECOND, new Prompt(tokens, turn), 10, output);
    }

    private static long answer(int id) {
        return -1L - id;
    }
}

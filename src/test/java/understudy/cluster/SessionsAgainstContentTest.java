package understudy.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.session.SessionMode;
import understudy.prompt.SessionTurn;
import understudy.report.Invariants;
import understudy.report.RequestRecord;
import understudy.workload.Distribution;
import understudy.workload.Gaps;
import understudy.workload.GeneratedWorkload;
import understudy.workload.GeneratedWorkloadOptionsBuilder;
import understudy.workload.OutputLimit;
import understudy.workload.PrefixGroups;
import understudy.workload.RandomStreams;
import understudy.workload.RequestRate;
import understudy.workload.WholeNumbers;

/** A thousand random conversations, whose prefixes are found by content and by session. */
final class SessionsAgainstContentTest {
    private static final int SESSIONS = 1_000;
    private static final int BLOCK_SIZE = 16;

    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void cleanConversations_areHitAlike(SessionMode mode) {
        var byContent = run(SessionMode.OFF, 0);
        var bySession = run(mode, 0);

        assertThat(byContent.keySet()).isEqualTo(bySession.keySet());
        assertThat(byContent.keySet().stream().filter(turn -> turn.turn() == 1)).hasSizeGreaterThanOrEqualTo(SESSIONS);
        for (var turn : byContent.keySet()) {
            var content = byContent.get(turn);
            var session = bySession.get(turn);
            assertThat(session.numPromptTokens()).isEqualTo(content.numPromptTokens());
            assertThat(session.numCachedTokens()).isLessThanOrEqualTo(session.numPromptTokens());
            assertThat(content.numCachedTokens()).isLessThanOrEqualTo(content.numPromptTokens());
            // The session's last token was sampled, but never computed, and only full blocks are found by content.
            int sessionLength = turn.isConversationalTurn() ? lengthBefore(bySession, turn) : 0;
            assertThat(session.numCachedTokens()).as("%s", turn).isEqualTo(sessionLength);
            assertThat(content.numCachedTokens())
                    .as("%s", turn)
                    .isEqualTo(Math.max(0, sessionLength - 1) / BLOCK_SIZE * BLOCK_SIZE);
            assertThat(session.events().contains(PrefixCacheEvent.CONVERSATIONAL_HIT))
                    .isEqualTo(turn.isConversationalTurn());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void rewrittenHistories_areUnexpectedAlike(SessionMode mode) {
        var byContent = run(SessionMode.OFF, 0.2);
        var bySession = run(mode, 0.2);

        long numUnexpected = bySession.values().stream()
                .filter(SessionsAgainstContentTest::isUnexpected)
                .count();
        long numFurtherTurns = bySession.keySet().stream()
                .filter(SessionTurn::isConversationalTurn)
                .count();
        // A fifth of the further turns, within six standard deviations of sqrt(3,000 x 0.2 x 0.8) = 22.
        assertThat(numUnexpected).isBetween(numFurtherTurns / 5 - 132, numFurtherTurns / 5 + 132);
        for (var turn : byContent.keySet()) {
            var content = byContent.get(turn);
            var session = bySession.get(turn);
            // A conversation of less than a block has no block to compare.
            boolean isComparable = turn.isConversationalTurn() && lengthBefore(bySession, turn) > BLOCK_SIZE;
            assertThat(isUnexpected(content)).as("%s", turn).isEqualTo(isComparable && isUnexpected(session));
            if (isUnexpected(session)) {
                assertThat(session.numCachedTokens()).isZero();
                assertThat(content.numCachedTokens()).isZero();
            }
        }
    }

    private static boolean isUnexpected(RequestRecord request) {
        return request.events().contains(PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT);
    }

    private static int lengthBefore(Map<SessionTurn, RequestRecord> requests, SessionTurn turn) {
        var before = requests.get(SessionTurn.of(turn.sessionId(), turn.turn() - 1));
        return before.numPromptTokens() + before.numOutputTokens();
    }

    private static Map<SessionTurn, RequestRecord> run(SessionMode mode, double rewriteProbability) {
        var cluster = new ClusterFixture();
        cluster.numBlocks = 100_000;
        cluster.isAsync = true;
        cluster.sessions = mode;
        var run = cluster.run(new GeneratedWorkload(conversations(rewriteProbability), new RandomStreams(5)));
        assertThat(Invariants.check(run)).isEmpty();
        var byTurn = new HashMap<SessionTurn, RequestRecord>();
        ClusterFixture.requests(run).forEach(request -> byTurn.put(request.turn(), request));
        return byTurn;
    }

    private static GeneratedWorkload.Options conversations(double rewriteProbability) {
        return GeneratedWorkloadOptionsBuilder.builder()
                .numRequests(
                        // A session has 4 turns on average; the twentieth on top makes up for chance.
                        4 * SESSIONS * 21 / 20)
                .rate(RequestRate.constant(50))
                .gaps(Gaps.POISSON)
                .promptLengths(new WholeNumbers(new Distribution.Uniform(1, 120), 1, 120))
                .outputLengths(new WholeNumbers(new Distribution.Uniform(1, 90), 1, 90))
                .groups(PrefixGroups.Options.NONE)
                .turns(new WholeNumbers(new Distribution.Uniform(1, 7), 1, 7))
                .rewriteProbability(rewriteProbability)
                .thinkTimeSeconds(new Distribution.Exponential(2))
                .numPriorities(1)
                .numTenants(1)
                .outputLimit(OutputLimit.MAX_TOKENS)
                .maxModelLen(20_000)
                .build();
    }
}

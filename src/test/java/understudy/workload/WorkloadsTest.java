package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenSequence;
import understudy.workload.files.TraceException;
import understudy.workload.trace.TraceReader;
import understudy.workload.trace.TraceRow;
import understudy.workload.trace.TraceRowBuilder;
import understudy.workload.trace.TraceWorkload;

final class WorkloadsTest {
    private static final int MAX_MODEL_LEN = 10_000;

    @Test
    void uniquePrompts_shareNothing() {
        var requests = arrivals(generated(100, 0, 1));

        assertThat(requests)
                .hasSize(100)
                .allSatisfy(r -> assertThat(r.prompt().length()).isEqualTo(50));
        assertThat(commonPrefix(requests.get(0), requests.get(1))).isLessThan(3);
        assertThat(requests).extracting(Request::id).isSorted().doesNotHaveDuplicates();
        assertThat(requests).extracting(Request::arrivalNanos).isSorted();
    }

    @Test
    void prefixGroups_areSharedWithinAndNotAcross() {
        var requests = arrivals(generated(200, 2, 1));

        // With 200 requests in 2 groups, the first one shares its 30-token prefix with about half of the others.
        long sharing = requests.stream()
                .skip(1)
                .filter(r -> commonPrefix(requests.get(0), r) >= 30)
                .count();
        assertThat(sharing).isBetween(60L, 140L);
        assertThat(requests).allSatisfy(r -> assertThat(r.prompt().length()).isEqualTo(80));
    }

    @Test
    void nextTurn_repeatsHistoryAndAnswerAndAddsAText() {
        var workload = generated(10, 1, 3);
        var first = workload.next();

        var second = workload.followUp(first, 20, 1_000);

        // 80 tokens, the answer's 20, and 50 new ones, after a think time of 2 s.
        assertThat(second.prompt().length()).isEqualTo(150);
        assertThat(second.arrivalNanos()).isEqualTo(2_000_001_000L);
        assertThat(commonPrefix(first, second)).isEqualTo(80);
        var answer = IntStream.range(0, 20).map(i -> sampled(first, i));
        assertThat(IntStream.range(80, 100)
                        .map(i -> second.prompt().tokens().tokenAt(i))
                        .toArray())
                .isEqualTo(answer.toArray());
        assertThat(workload.followUp(second, 20, 2_000)).isNotNull();
        assertThat(workload.followUp(second, 20, 2_000)).as("answered twice").isNull();
    }

    @Test
    void rewrittenHistory_isAsLongAsBeforeAndHasNothingOfIt() {
        var workload = generated(10, 1, 3, 1, 1);
        var first = workload.next();

        var second = workload.followUp(first, 20, 1_000);
        var third = workload.followUp(second, 20, 1_000);

        // 80 tokens, the answer's 20, and 50 new ones; then 20 and 50 more. The first turn has no history to rewrite.
        assertThat(first.prompt().tokens().tokenAt(0))
                .isEqualTo(generated(10, 1, 3).next().prompt().tokens().tokenAt(0));
        assertThat(second.prompt().length()).isEqualTo(150);
        assertThat(commonPrefix(first, second)).isLessThan(3);
        assertThat(third.prompt().length()).isEqualTo(220);
        assertThat(commonPrefix(second, third)).isLessThan(3);
    }

    @Test
    void rewriting_changesNothingElse() {
        var plain = generated(300, 0, 3);
        var rewriting = generated(300, 0, 3, 1, 0.25);
        int numRewritten = 0;
        for (int i = 0; i < 100; i++) {
            var expected = plain.next();
            var actual = rewriting.next();
            assertThat(actual.arrivalNanos()).isEqualTo(expected.arrivalNanos());
            for (int turn = 2; turn <= 3; turn++) {
                var before = actual;
                expected = plain.followUp(expected, 20, 1_000);
                actual = rewriting.followUp(actual, 20, 1_000);
                assertThat(actual.arrivalNanos()).isEqualTo(expected.arrivalNanos());
                assertThat(actual.prompt().length()).isEqualTo(expected.prompt().length());
                assertThat(actual.sampling()).isEqualTo(expected.sampling());
                numRewritten += commonPrefix(before, actual) < 3 ? 1 : 0;
            }
        }
        // A quarter of 200 further turns, 50, give or take six standard deviations of 6.1.
        assertThat(numRewritten).isBetween(14, 86);
    }

    @Test
    void requestThatFailed_endsItsSession() {
        var workload = generated(10, 1, 3);

        assertThat(workload.followUp(workload.next(), 0, 1_000)).isNull();
    }

    @Test
    void turns_addUpToTheNumberOfRequests() {
        var workload = generated(100, 0, 7);
        var requests = new ArrayList<>(arrivals(workload));
        for (int i = 0; i < requests.size(); i++) {
            var followUp = workload.followUp(requests.get(i), 5, 0);
            if (followUp != null) {
                requests.add(followUp);
            }
        }

        assertThat(requests).hasSize(100);
        assertThat(workload.total()).hasValue(100);
    }

    @Test
    void whatASessionSays_doesNotDependOnHowFastItIsServed() {
        var one = generated(20, 1, 4);
        var other = generated(20, 1, 4);
        var session = one.next();
        var sameSession = other.next();
        // In the other run a second session gets ahead of the first one's next turn.
        other.followUp(other.next(), 9, 0);

        var turn = one.followUp(session, 9, 100);
        var sameTurn = other.followUp(sameSession, 9, 900);

        assertThat(turn.prompt().length()).isEqualTo(sameTurn.prompt().length());
        assertThat(commonPrefix(turn, sameTurn)).isEqualTo(turn.prompt().length());
    }

    @ParameterizedTest
    @EnumSource(OutputLimit.class)
    void outputLimit_decidesWhoEndsTheAnswer(OutputLimit limit) {
        var workload = new TraceWorkload(rows(row(0, 100, 7)), "trace", options(1, 0, limit));
        var request = workload.next();
        boolean isHidden = limit == OutputLimit.END_OF_SEQUENCE;

        assertThat(request.maxTokens()).isEqualTo(isHidden ? MAX_MODEL_LEN - 100 : 7);
        assertThat(request.output().length()).isEqualTo(isHidden ? 7 : OutputPlan.ENDLESS);
    }

    @Test
    void trace_isScaledAndLimited() {
        var reader = rows(row(0, 10, 1), row(1_000, 10, 1), row(2_000, 10, 1));
        var requests = arrivals(new TraceWorkload(reader, "trace", options(0.5, 2, OutputLimit.MAX_TOKENS)));

        assertThat(requests).extracting(Request::arrivalNanos).containsExactly(0L, 500L);
    }

    @Test
    void traceTime_countsFromTheFirstRow() {
        var reader = rows(row(7_000, 10, 1), row(9_000, 10, 1));

        // 2,000 ns apart, replayed twice as slowly.
        assertThat(arrivals(new TraceWorkload(reader, "trace", options(2, 0, OutputLimit.MAX_TOKENS))))
                .extracting(Request::arrivalNanos)
                .containsExactly(0L, 4_000L);
    }

    @Test
    void traceThatIsLongerThanVirtualTime_isRefused() {
        var reader = rows(row(0, 10, 1), row(2_000_000_000_000_000_000L, 10, 1));
        var workload = new TraceWorkload(reader, "t.csv", options(1, 0, OutputLimit.MAX_TOKENS));
        workload.next();

        assertThatThrownBy(workload::next)
                .isInstanceOf(TraceException.class)
                .hasMessage("t.csv:7: the request arrives more than 31 years after the first one");
    }

    @Test
    void uniformWholeNumbers_haveEqualChancesAtTheEndsToo() {
        var random = new RandomStreams(1).stream("test");
        var numbers = WholeNumbers.uniform(1, 4);
        var counts = new int[5];
        for (int i = 0; i < 40_000; i++) {
            counts[numbers.sample(random)]++;
        }

        // 10,000 each; the standard deviation of a count is sqrt(40,000 x 1/4 x 3/4) = 87.
        for (int number = 1; number <= 4; number++) {
            assertThat(counts[number]).isBetween(9_500, 10_500);
        }
    }

    @Test
    void tenants_areDrawnPerSessionFromTheirOwnStream() {
        var one = arrivals(generated(200, 0, 1, 3, 1, 0));
        var three = arrivals(generated(200, 0, 1, 3, 3, 0));

        assertThat(one).extracting(Request::tenant).containsOnly("");
        assertThat(three).extracting(Request::tenant).containsOnly("tenant-0", "tenant-1", "tenant-2");
        assertThat(three)
                .as("nothing else has changed")
                .extracting(Request::arrivalNanos, Request::priority)
                .containsExactlyElementsOf(one.stream()
                        .map(r -> tuple(r.arrivalNanos(), r.priority()))
                        .toList());
    }

    @Test
    void laterTurns_haveTheTenantOfTheirSession() {
        var workload = generated(10, 0, 2, 1, 1_000_000, 0);
        var first = workload.next();

        assertThat(workload.followUp(first, 20, 1_000).tenant()).isEqualTo(first.tenant());
    }

    @Test
    void requestOfATrace_hasThePriorityAndTheTenantOfItsRow() {
        var row = TraceRowBuilder.builder()
                .line(7)
                .numPromptTokens(10)
                .blockIds(LongList.of())
                .blockTokens(1)
                .outputBlockIds(LongList.of())
                .numOutputTokens(1)
                .priority(3)
                .tenant("ada")
                .loraName("")
                .turn(SessionTurn.NONE)
                .build();

        var request = new TraceWorkload(rows(row), "trace", options(1, 0, OutputLimit.MAX_TOKENS)).next();

        assertThat(request.priority()).isEqualTo(3);
        assertThat(request.tenant()).isEqualTo("ada");
    }

    @Test
    void priorities_areDrawnPerSessionFromTheirOwnStream() {
        var one = arrivals(generated(200, 0, 1));
        var three = arrivals(generated(200, 0, 1, 3, 0));

        assertThat(one).extracting(Request::priority).containsOnly(0);
        assertThat(three).extracting(Request::priority).contains(0, 1, 2);
        assertThat(three)
                .as("nothing else has changed")
                .extracting(Request::arrivalNanos)
                .containsExactlyElementsOf(
                        one.stream().map(Request::arrivalNanos).toList());
    }

    @Test
    void traceOutOfOrder_isRefused() {
        var workload =
                new TraceWorkload(rows(row(5, 10, 1), row(4, 10, 1)), "t.csv", options(1, 0, OutputLimit.MAX_TOKENS));

        assertThatThrownBy(workload::next)
                .isInstanceOf(TraceException.class)
                .hasMessage("t.csv:7: the request arrives before the one above it; sort the file by arrival");
    }

    @Test
    void agenda_mergesArrivalsAndFollowUps() {
        var agenda = new LoadSchedule(generated(6, 0, 2));
        var first = agenda.pollDue(agenda.nextNanos());
        long secondNanos = agenda.nextNanos();

        agenda.onEnded(first.id(), 5, 0);

        // The follow-up is due 2 s after the answer; arrivals come every 0.1 s on average, so they go first.
        assertThat(agenda.nextNanos()).isEqualTo(secondNanos);
        assertThat(agenda.pollDue(secondNanos - 1)).as("not yet").isNull();
        var second = agenda.pollDue(secondNanos);
        var third = agenda.pollDue(Long.MAX_VALUE - 1);
        assertThat(agenda.nextNanos()).isEqualTo(2_000_000_000L);
        var followUp = agenda.pollDue(2_000_000_000L);
        assertThat(followUp.prompt().length()).isEqualTo(50 + 5 + 50);
        assertThat(agenda.numSent()).isEqualTo(4);
        assertThat(agenda.isDone()).isFalse();

        List.of(second, third, followUp).forEach(r -> agenda.onEnded(r.id(), 0, 0));
        assertThat(agenda.isDone()).isTrue();
        assertThat(agenda.nextNanos()).isEqualTo(LoadSchedule.NEVER);
    }

    @Test
    void agenda_refusesTheEndOfWhatIsNotOutstanding() {
        var agenda = new LoadSchedule(generated(1, 0, 1));

        assertThatIllegalStateException()
                .isThrownBy(() -> agenda.onEnded(0, 1, 0))
                .withMessageContaining("0");
    }

    private static GeneratedWorkload generated(int numRequests, int numGroups, int numTurns) {
        return generated(numRequests, numGroups, numTurns, 1, 0);
    }

    private static GeneratedWorkload generated(
            int numRequests, int numGroups, int numTurns, int numPriorities, double rewriteProbability) {
        return generated(numRequests, numGroups, numTurns, numPriorities, 1, rewriteProbability);
    }

    private static GeneratedWorkload generated(
            int numRequests,
            int numGroups,
            int numTurns,
            int numPriorities,
            int numTenants,
            double rewriteProbability) {
        var options = GeneratedWorkloadOptionsBuilder.builder()
                .numRequests(numRequests)
                .rate(RequestRate.constant(10))
                .gaps(Gaps.POISSON)
                .promptLengths(WholeNumbers.fixed(50))
                .outputLengths(WholeNumbers.fixed(20))
                .groups(new PrefixGroups.Options(numGroups, WholeNumbers.fixed(30), 0, false))
                .turns(WholeNumbers.fixed(numTurns))
                .rewriteProbability(rewriteProbability)
                .thinkTimeSeconds(new Distribution.Fixed(2))
                .numPriorities(numPriorities)
                .numTenants(numTenants)
                .outputLimit(OutputLimit.MAX_TOKENS)
                .maxModelLen(MAX_MODEL_LEN)
                .build();
        return new GeneratedWorkload(options, new RandomStreams(1));
    }

    private static List<Request> arrivals(Workload workload) {
        var requests = new ArrayList<Request>();
        for (var request = workload.next(); request != null; request = workload.next()) {
            requests.add(request);
        }
        return requests;
    }

    private static TraceWorkload.Options options(double timeScale, long limit, OutputLimit outputLimit) {
        return new TraceWorkload.Options(timeScale, limit, outputLimit, MAX_MODEL_LEN);
    }

    private static TraceRow row(long arrivalNanos, int promptTokens, int outputTokens) {
        return TraceRow.of(7, arrivalNanos, promptTokens, outputTokens);
    }

    private static TraceReader rows(TraceRow... rows) {
        Iterator<TraceRow> iterator = List.of(rows).iterator();
        return new TraceReader() {
            @Override
            public TraceRow next() {
                return iterator.hasNext() ? iterator.next() : null;
            }

            @Override
            public void close() {}
        };
    }

    private static int sampled(Request request, int index) {
        return request.output().tokens().tokenAt(index);
    }

    private static int commonPrefix(Request one, Request other) {
        TokenSequence a = one.prompt().tokens();
        TokenSequence b = other.prompt().tokens();
        int i = 0;
        while (i < Math.min(a.length(), b.length()) && a.tokenAt(i) == b.tokenAt(i)) {
            i++;
        }
        return i;
    }
}

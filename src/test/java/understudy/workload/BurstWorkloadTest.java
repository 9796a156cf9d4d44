package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;

/** Prompts of 4 tokens, answers of 8; the first hand-over takes 78 ms, others 0.05 ms, with 0.15 ms in between. */
final class BurstWorkloadTest {
    private static final long MICRO = 1_000;

    @Test
    void requests_areHandedOverOneAfterTheOther() {
        var workload = burst(3, 0);

        var requests = all(workload);

        // Calls at 0, 78.15 and 78.35 ms; they return at 78, 78.2 and 78.4 ms.
        assertThat(requests).extracting(Request::arrivalNanos).containsExactly(0L, 78_150 * MICRO, 78_350 * MICRO);
        assertThat(requests)
                .extracting(workload::sendNanos)
                .containsExactly(78_000 * MICRO, 78_200 * MICRO, 78_400 * MICRO);
        assertThat(requests).extracting(Request::id).containsExactly(0L, 1L, 2L);
        assertThat(requests).allSatisfy(r -> {
            assertThat(r.prompt().length()).isEqualTo(4);
            assertThat(r.maxTokens()).isEqualTo(8);
        });
        assertThat(workload.total()).hasValue(3);
    }

    @Test
    void agenda_sendsWhenTheCallReturns() {
        var agenda = new LoadSchedule(burst(2, 0));

        assertThat(agenda.nextNanos()).isEqualTo(78_000 * MICRO);
        assertThat(agenda.pollDue(78_000 * MICRO - 1)).isNull();
        assertThat(agenda.pollDue(78_000 * MICRO)).isNotNull();
        assertThat(agenda.nextNanos()).isEqualTo(78_200 * MICRO);
    }

    @Test
    void distinctPrompts_takeTurns() {
        var requests = all(burst(5, 2));

        assertThat(tokens(requests.get(0)))
                .isEqualTo(tokens(requests.get(2)))
                .isEqualTo(tokens(requests.get(4)))
                .isNotEqualTo(tokens(requests.get(1)));
        assertThat(tokens(requests.get(1))).isEqualTo(tokens(requests.get(3)));
    }

    @Test
    void byDefault_everyPromptIsAnother() {
        var prompts = all(burst(20, 0)).stream().map(BurstWorkloadTest::tokens).toList();

        assertThat(prompts).doesNotHaveDuplicates();
    }

    @Test
    void nothingFollowsAnAnswer() {
        var workload = burst(1, 0);

        assertThat(workload.followUp(workload.next(), 8, 0)).isNull();
        assertThat(workload.next()).isNull();
    }

    private static BurstWorkload burst(int numRequests, int numDistinctPrompts) {
        return new BurstWorkload(
                new BurstWorkload.Options(
                        numRequests,
                        numDistinctPrompts,
                        WholeNumbers.fixed(4),
                        WholeNumbers.fixed(8),
                        0.078,
                        new Distribution.Fixed(0.00005),
                        0.00015,
                        OutputLimit.MAX_TOKENS,
                        1_000),
                new RandomStreams(1));
    }

    private static List<Request> all(Workload workload) {
        var requests = new ArrayList<Request>();
        for (var next = workload.next(); next != null; next = workload.next()) {
            requests.add(next);
        }
        return requests;
    }

    private static List<Integer> tokens(Request request) {
        var tokens = request.prompt().tokens();
        return IntStream.range(0, tokens.length()).mapToObj(tokens::tokenAt).toList();
    }
}

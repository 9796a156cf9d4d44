package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.engine.Request;

/** First turns of sessions whose group has only so many texts to open with. */
final class PromptsOfGroupsTest {
    private static final int PREFIX_TOKENS = 30;

    @Test
    void sessionsOpenWithOneOfTheTextsOfTheirGroup() {
        var requests = arrivals(generated(300, 3, 1));

        // 2 groups of 3 texts: 6 different prompts, each drawn by about 50 of 300 sessions. Every prompt is one of two
        // prefixes, followed by a text that no other group has.
        var prompts = new HashSet<List<Integer>>();
        var prefixes = new HashSet<List<Integer>>();
        var texts = new HashSet<List<Integer>>();
        for (var request : requests) {
            var tokens = tokens(request);
            prompts.add(tokens);
            prefixes.add(tokens.subList(0, PREFIX_TOKENS));
            texts.add(tokens.subList(PREFIX_TOKENS, tokens.size()));
        }
        assertThat(prompts).hasSize(6);
        assertThat(prefixes).hasSize(2);
        assertThat(texts).hasSize(6);
    }

    @Test
    void answersAndFurtherTurnsAreTheSessionsOwn() {
        var workload = generated(400, 1, 2);
        var firsts = List.of(workload.next(), workload.next(), workload.next(), workload.next(), workload.next());
        var seconds = firsts.stream()
                .map(first -> workload.followUp(first, 20, 1_000))
                .toList();

        // One text for each of two groups: two first prompts, five second ones, longer by the answer and a new text.
        assertThat(firsts).extracting(PromptsOfGroupsTest::tokens).containsOnly(tokens(firsts.get(0)), other(firsts));
        assertThat(seconds).extracting(PromptsOfGroupsTest::tokens).doesNotHaveDuplicates();
        for (int i = 0; i < firsts.size(); i++) {
            int before = firsts.get(i).prompt().length();
            assertThat(tokens(seconds.get(i)).subList(0, before)).isEqualTo(tokens(firsts.get(i)));
            assertThat(seconds.get(i).prompt().length()).isBetween(before + 20 + 40, before + 20 + 60);
        }
    }

    @Test
    void allElseIsAsWithTextsOfTheirOwn() {
        var own = arrivals(generated(200, 0, 1));
        var shared = arrivals(generated(200, 3, 1));

        assertThat(shared)
                .extracting(Request::arrivalNanos)
                .containsExactlyElementsOf(
                        own.stream().map(Request::arrivalNanos).toList());
        assertThat(shared)
                .extracting(request -> tokens(request).get(0))
                .as("the group")
                .containsExactlyElementsOf(
                        own.stream().map(request -> tokens(request).get(0)).toList());
        assertThat(shared)
                .extracting(Request::sampling)
                .containsExactlyElementsOf(own.stream().map(Request::sampling).toList());
        assertThat(own).extracting(PromptsOfGroupsTest::tokens).doesNotHaveDuplicates();
    }

    @Test
    void inTurn_noPromptComesAgainBeforeAllHaveCome() {
        var prompts = inTurn(30, RequestRate.constant(10)).stream()
                .map(PromptsOfGroupsTest::tokens)
                .toList();

        // 3 groups of 4 texts: 12 prompts, in the same order again from the 13th and the 25th request on. In the order
        // of
        // their making, all four of a group would come one after the other.
        assertThat(prompts.subList(0, 12)).doesNotHaveDuplicates();
        assertThat(prompts.subList(12, 24)).isEqualTo(prompts.subList(0, 12));
        assertThat(prompts.subList(24, 30)).isEqualTo(prompts.subList(0, 6));
        assertThat(prompts.subList(0, 4))
                .extracting(prompt -> prompt.subList(0, PREFIX_TOKENS))
                .satisfies(prefixes -> assertThat(new HashSet<>(prefixes)).hasSizeGreaterThan(1));
    }

    @Test
    void inTurn_theOrderBeginsAnewWhenTheRateChanges() {
        // 10 requests per second until 0.5 s, then none, and 1 per second from 100 s on: the first 12 prompts come to
        // their
        // end at 1.2 s on average, so that the change cuts the first round.
        var rate = RequestRate.constant(10)
                .changing(List.of(new RequestRate.Piece(0.5e9, 0), new RequestRate.Piece(100e9, 1)));
        var requests = inTurn(20, rate);
        int numBefore =
                (int) requests.stream().filter(r -> r.arrivalNanos() < 100e9).count();
        var prompts = requests.stream().map(PromptsOfGroupsTest::tokens).toList();

        assertThat(numBefore).isBetween(1, 8);
        assertThat(prompts.subList(numBefore, numBefore + 12)).doesNotHaveDuplicates();
        assertThat(prompts.subList(numBefore, 2 * numBefore)).isEqualTo(prompts.subList(0, numBefore));
    }

    private static List<Request> inTurn(int numRequests, RequestRate rate) {
        var groups = new PrefixGroups.Options(3, WholeNumbers.fixed(PREFIX_TOKENS), 4, true);
        return arrivals(generated(numRequests, rate, groups, 1));
    }

    private static List<Integer> other(List<Request> requests) {
        var first = tokens(requests.get(0));
        return requests.stream()
                .map(PromptsOfGroupsTest::tokens)
                .filter(tokens -> !tokens.equals(first))
                .findFirst()
                .orElseThrow();
    }

    private static GeneratedWorkload generated(int numRequests, int numPromptsPerGroup, int numTurns) {
        var groups = new PrefixGroups.Options(2, WholeNumbers.fixed(PREFIX_TOKENS), numPromptsPerGroup, false);
        return generated(numRequests, RequestRate.constant(10), groups, numTurns);
    }

    private static GeneratedWorkload generated(
            int numRequests, RequestRate rate, PrefixGroups.Options groups, int numTurns) {
        var options = GeneratedWorkloadOptionsBuilder.builder()
                .numRequests(numRequests)
                .rate(rate)
                .gaps(Gaps.POISSON)
                .promptLengths(WholeNumbers.uniform(40, 60))
                .outputLengths(WholeNumbers.uniform(10, 20))
                .groups(groups)
                .turns(WholeNumbers.fixed(numTurns))
                .thinkTimeSeconds(new Distribution.Fixed(2))
                .numPriorities(1)
                .numTenants(1)
                .outputLimit(OutputLimit.MAX_TOKENS)
                .maxModelLen(10_000)
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

    private static List<Integer> tokens(Request request) {
        var tokens = new int[request.prompt().length()];
        request.prompt().tokens().copy(0, tokens.length, tokens, 0);
        return Arrays.stream(tokens).boxed().toList();
    }
}

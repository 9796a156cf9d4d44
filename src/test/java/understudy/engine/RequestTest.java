package understudy.engine;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntSets;
import it.unimi.dsi.fastutil.longs.LongLists;
import org.junit.jupiter.api.Test;
import understudy.kvcache.PrefixCacheEvents;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

final class RequestTest {
    private static final Prompt PROMPT = new Prompt(new TokenIds(new int[] {1, 2}));
    private static final Prompt OTHER = new Prompt(new TokenIds(new int[] {3}));
    private static final OutputPlan OUTPUT = new OutputPlan(index -> 7, 5);

    private final Request request = request(4, PROMPT, 2, "ada");

    @Test
    void copy_differsInOneThing() {
        assertThat(request.withPriority(9)).isEqualTo(request(4, PROMPT, 9, "ada"));
        assertThat(request.withTenant("bob")).isEqualTo(request(4, PROMPT, 2, "bob"));
        assertThat(request.withArrivalNanos(8)).isEqualTo(request(8, PROMPT, 2, "ada"));
        assertThat(request.withPrompt(OTHER)).isEqualTo(request(4, OTHER, 2, "ada"));
    }

    @Test
    void rest_isPromptedByTheAnswerSoFar() {
        var output = new OutputPlan(index -> 10 + index, 5);
        var sampling = new SamplingParams(9, 4, false, IntSets.singleton(12), true);
        var whole = RequestBuilder.builder()
                .id(1)
                .name("a")
                .arrivalNanos(4)
                .prompt(PROMPT)
                .sampling(sampling)
                .priority(2)
                .tenant("ada")
                .output(output)
                .build();

        var once = whole.resumed(progress(3));
        var twice = once.resumed(progress(4));

        // Prompt 1, 2, and tokens 10 to 14, of which 3, then 4, are there already.
        assertThat(tokens(once.prompt())).containsExactly(1, 2, 10, 11, 12);
        assertThat(tokens(twice.prompt())).containsExactly(1, 2, 10, 11, 12, 13);
        assertThat(twice.output().tokens().tokenAt(0)).isEqualTo(14);
        assertThat(twice.output().length()).isEqualTo(1);
        assertThat(once.sampling()).isEqualTo(new SamplingParams(6, 1, false, IntSets.singleton(12), true));
        assertThat(twice.sampling()).isEqualTo(new SamplingParams(5, 0, false, IntSets.singleton(12), true));
        assertThat(twice.progress()).isEqualTo(progress(4));
        assertThat(whole.progress()).isEqualTo(AnswerProgress.none(2));
        assertThat(twice.resumed(progress(6)).output().length())
                .as("the end-of-sequence token was passed over")
                .isEqualTo(OutputPlan.ENDLESS);
    }

    private static AnswerProgress progress(int numTokens) {
        return AnswerProgressBuilder.builder()
                .numPromptTokens(2)
                .numTokens(numTokens)
                .queuedNanos(4)
                .scheduledNanos(5)
                .firstTokenNanos(6)
                .lastTokenNanos(7)
                .events(PrefixCacheEvents.NONE)
                .tokenNanos(LongLists.EMPTY_LIST)
                .build();
    }

    private static int[] tokens(Prompt prompt) {
        var tokens = new int[prompt.length()];
        prompt.tokens().copy(0, tokens.length, tokens, 0);
        return tokens;
    }

    private static Request request(long arrivalNanos, Prompt prompt, int priority, String tenant) {
        return Request.of(1, arrivalNanos, prompt, 3, OUTPUT)
                .with()
                .name("a")
                .priority(priority)
                .tenant(tenant)
                .build();
    }
}

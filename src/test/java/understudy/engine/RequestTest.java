package understudy.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
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
        assertThat(request.arrivingAt(8)).isEqualTo(request(8, PROMPT, 2, "ada"));
        assertThat(request.withPrompt(OTHER)).isEqualTo(request(4, OTHER, 2, "ada"));
    }

    private static Request request(long arrivalNanos, Prompt prompt, int priority, String tenant) {
        return new Request(1, "a", arrivalNanos, prompt, SamplingParams.ofMaxTokens(3), priority, tenant, OUTPUT);
    }
}

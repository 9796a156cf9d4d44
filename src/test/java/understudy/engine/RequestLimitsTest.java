package understudy.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class RequestLimitsTest {

    @Test
    void contextLength_countsPromptAndOutput() {
        var limits = new RequestLimits(100, 1_000);

        assertThat(limits.refusal(request(90, 10))).isEmpty();
        assertThat(limits.refusal(request(91, 10)))
                .hasValueSatisfying(reason -> assertThat(reason)
                        .contains("maximum context length is 100 tokens")
                        .contains("10 output tokens")
                        .contains("91 input tokens")
                        .contains("a total of 101 tokens"));
    }

    @Test
    void memory_mustHoldTheWholeRequest() {
        var limits = new RequestLimits(1_000, 64);

        assertThat(limits.refusal(request(60, 4))).isEmpty();
        assertThat(limits.refusal(request(60, 5)))
                .hasValueSatisfying(
                        reason -> assertThat(reason).contains("64 tokens").contains("65"));
    }

    private static Request request(int numPrompt, int maxTokens) {
        return EngineFixture.request(0, EngineFixture.filled(numPrompt, 1), maxTokens, 0, OutputScript.ENDLESS);
    }
}

package understudy.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.vllm.EngineFixture;

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

    @Test
    void truncation_dropsWholeBlocksAtTheBeginning() {
        var limits = new RequestLimits(100, 1_000, ContextOverflow.TRUNCATE_OLDEST, 16);

        // 130 + 10 tokens are 40 too many, which is 48 in whole blocks of 16.
        var fitted = limits.fit(request(130, 10));
        assertThat(fitted.prompt().length()).isEqualTo(82);
        assertThat(fitted.prompt().turn().numTruncatedTokens()).isEqualTo(48);
        assertThat(limits.refusal(fitted)).isEmpty();
        assertThat(fitted.prompt().tokens().tokenAt(0))
                .isEqualTo(request(130, 10).prompt().tokens().tokenAt(48));
    }

    @Test
    void truncation_leavesAloneWhatFitsAndWhatNeverWill() {
        var limits = new RequestLimits(100, 64, ContextOverflow.TRUNCATE_OLDEST, 16);
        var fits = request(60, 4);
        var neverFits = request(60, 64);

        assertThat(limits.fit(fits)).isSameAs(fits);
        assertThat(limits.fit(neverFits)).isSameAs(neverFits);
        assertThat(limits.refusal(neverFits)).isPresent();
    }

    @Test
    void rejection_changesNothing() {
        var tooLong = request(130, 10);

        assertThat(new RequestLimits(100, 1_000).fit(tooLong)).isSameAs(tooLong);
    }

    private static Request request(int numPrompt, int maxTokens) {
        return EngineFixture.request(0, IntStream.range(0, numPrompt).toArray(), maxTokens, 0, OutputPlan.ENDLESS);
    }
}

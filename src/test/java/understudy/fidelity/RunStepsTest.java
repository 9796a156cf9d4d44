package understudy.fidelity;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RunStepsTest {
    private static final double MILLI = 1e6;

    /** A lone request at first; the first 40-token prompt comes at 22 ms, in the step that ends at 30. */
    private static final AnswerTimes FIRST = answer(0, 10, 10, 20, 30, 45, 55);

    private static final AnswerTimes SECOND = answer(22, 40, 45, 55, 67);

    @Test
    void stepsAreWhatLiesBetweenBursts() {
        // A token attends to the prompt, the tokens before it, and itself: 10 + 1, 12 and 13; then the second one 40 +
        // 1.
        assertThat(steps(FIRST, SECOND))
                .containsExactly(
                        "10 ms: 1 decodes, 11 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 12 attended to, 0 prompt tokens",
                        "15 ms: 1 decodes, 13 attended to, 40 prompt tokens",
                        "10 ms: 2 decodes, 55 attended to, 0 prompt tokens",
                        "12 ms: 1 decodes, 42 attended to, 0 prompt tokens");
    }

    @Test
    void tokensOfABurst_mayComeOneAfterTheOther() {
        // Bursts are up to a fifth of the usual gap (10 ms) apart, and begin with their first token.
        assertThat(steps(FIRST, answer(22, 40, 46, 57, 68)))
                .containsExactly(
                        "10 ms: 1 decodes, 11 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 12 attended to, 0 prompt tokens",
                        "15 ms: 1 decodes, 13 attended to, 40 prompt tokens",
                        "10 ms: 2 decodes, 55 attended to, 0 prompt tokens",
                        "13 ms: 1 decodes, 42 attended to, 0 prompt tokens");
    }

    @Test
    void tokensThatCatchUp_areNoSteps() {
        // The client was late at 20 ms: two tokens at once, which have no step of their own between them.
        assertThat(steps(answer(0, 10, 10, 30, 30, 40, 50)))
                .containsExactly(
                        "20 ms: 1 decodes, 11 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 13 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 14 attended to, 0 prompt tokens");
    }

    @Test
    void stepsInWhichARequestPauses_areInDoubt() {
        // The second request has no token at 60, so the steps to 60 and 70 have it or not; that to 80 is as known as
        // any.
        assertThat(steps(answer(0, 10, 10, 20, 30, 40, 50, 60, 70, 80), answer(22, 40, 40, 50, 70, 80)))
                .containsExactly(
                        "10 ms: 1 decodes, 11 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 12 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 13 attended to, 40 prompt tokens",
                        "10 ms: 2 decodes, 55 attended to, 0 prompt tokens",
                        "10 ms: 2 decodes, 60 attended to, 0 prompt tokens");
    }

    @Test
    void stepsThatMayHaveAPartOfAPrompt_areInDoubt() {
        // The third request comes in the step that ends at 55, and could have its first token at 67. It has it at 90.
        var third = answer(50, 9000, 90);
        var first = answer(0, 10, 10, 20, 30, 45, 55, 67, 80, 90, 100);

        assertThat(steps(first, SECOND, third))
                .containsExactly(
                        "10 ms: 1 decodes, 11 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 12 attended to, 0 prompt tokens",
                        "15 ms: 1 decodes, 13 attended to, 40 prompt tokens",
                        "10 ms: 2 decodes, 55 attended to, 0 prompt tokens",
                        "10 ms: 1 decodes, 18 attended to, 0 prompt tokens");
    }

    private static AnswerTimes answer(double sentMillis, int numPromptTokens, double... tokenMillis) {
        return new AnswerTimes(
                sentMillis * MILLI,
                numPromptTokens,
                DoubleList.of(
                        Arrays.stream(tokenMillis).map(millis -> millis * MILLI).toArray()));
    }

    private static List<String> steps(AnswerTimes... answers) {
        return RunSteps.of(List.of(answers)).steps().stream()
                .map(step -> Math.round(step.nanos() / MILLI) + " ms: "
                        + step.batch().numDecodes() + " decodes, "
                        + step.batch().decodeKvTokens() + " attended to, "
                        + step.batch().numPrefillTokens() + " prompt tokens")
                .toList();
    }
}

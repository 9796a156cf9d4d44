package understudy.fidelity.probe;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import understudy.latency.ProfileFit.Measurement;

final class SteadyStepsTest {
    private static final double MILLI = 1e6;
    private static final Offset<Double> ROUNDING = Offset.offset(1.0);
    private final ProbePrompts prompts = new ProbePrompts(1);

    /** Steps of 10 ms from 100 ms on; the eleventh takes 40 ms, since it has a prompt of 500 tokens, 160 of them cached. */
    @Test
    void prompt_isMeasuredByTheStepThatItIsIn() {
        double[] ends = ends(100, 10, 20);
        shift(ends, 11, 30);

        var steps = new SteadySteps(List.of(observer(ends)), true).measurements(List.of(prompt(195, ends[11])));

        assertThat(steps).hasSize(2);
        assertThat(steps.get(0).nanos()).isCloseTo(10 * MILLI, ROUNDING);
        // The middle one of the 19 ends behind the first token is that of token 10: 32 tokens of prompt, 10 of the
        // answer.
        assertThat(steps.get(0).batch().numDecodes()).isEqualTo(1);
        assertThat(steps.get(0).batch().decodeKvTokens()).isEqualTo(42);
        assertThat(steps.get(1).nanos()).isCloseTo(40 * MILLI, ROUNDING);
        assertThat(steps.get(1).batch().numDecodes()).isEqualTo(1);
        assertThat(steps.get(1).batch().chunkTokens(0)).isEqualTo(340);
        assertThat(steps.get(1).batch().chunkContextTokens(0)).isEqualTo(160);
    }

    /** The step of the prompt takes 20 ms, then the decodes go on with one of 10 ms, whose end is 30 ms after the last. */
    @Test
    void prompt_isAStepOfItsOwn_ifTheEngineDoesNotMix() {
        double[] ends = ends(100, 10, 20);
        shift(ends, 11, 20);

        var steps = new SteadySteps(List.of(observer(ends)), false)
                .measurements(List.of(prompt(195, ends[11] - 10 * MILLI)));

        assertThat(steps).hasSize(2);
        assertThat(steps.get(1).nanos()).isCloseTo(20 * MILLI, ROUNDING);
        assertThat(steps.get(1).batch().numDecodes()).isZero();
        assertThat(steps.get(1).batch().numChunks()).isEqualTo(1);
    }

    /** Every seventh token is 3 ms late, so that most pairs of the others, and most ends beside the prompt, are as they were. */
    @Test
    void lateTokens_changeNothing() {
        double[] ends = ends(100, 10, 40);
        shift(ends, 21, 30);
        var seen = ends.clone();
        for (int i = 3; i < seen.length; i += 7) {
            seen[i] += 3 * MILLI;
        }

        var steps = new SteadySteps(List.of(observer(seen)), true).measurements(List.of(prompt(295, ends[21])));

        assertThat(steps.get(0).nanos()).isCloseTo(10 * MILLI, ROUNDING);
        assertThat(steps.get(1).nanos()).isCloseTo(40 * MILLI, ROUNDING);
    }

    /** The second observer's first token comes two steps later; behind it both have a token in each step. */
    @Test
    void steps_beginWhenAllDecode() {
        double[] ends = ends(100, 10, 20);
        var late = DoubleList.of(Arrays.copyOfRange(ends, 2, 20));

        var steps = new SteadySteps(List.of(observer(ends), answer(0, 64, late)), true).measurements(List.of());

        assertThat(steps).extracting(Measurement::nanos).singleElement().isEqualTo(10 * MILLI);
        // Of 13 ends the one in the middle, the seventh: 32 + 2 + 7 tokens, and 64 + 7.
        assertThat(steps.get(0).batch().decodeKvTokens()).isEqualTo(41 + 71);
    }

    /** Steps of 25 and 40 ms end with the first token: the prompt was computed in two parts. */
    @Test
    void prompt_isLeftOut_ifItWasComputedInParts() {
        double[] ends = ends(100, 10, 20);
        shift(ends, 10, 15);
        shift(ends, 11, 30);

        var steps = new SteadySteps(List.of(observer(ends)), true).measurements(List.of(prompt(185, ends[11])));

        assertThat(steps).hasSize(1);
    }

    @Test
    void promptsOfOneStep_areLeftOut() {
        double[] ends = ends(100, 10, 20);
        shift(ends, 11, 30);

        var steps = new SteadySteps(List.of(observer(ends)), true)
                .measurements(List.of(prompt(195, ends[11]), prompt(196, ends[11])));

        assertThat(steps).hasSize(1);
    }

    @Test
    void fewTokens_showNothing() {
        assertThat(new SteadySteps(List.of(observer(ends(100, 10, 3))), true).measurements(List.of()))
                .isEmpty();
    }

    private static double[] ends(double fromMillis, double stepMillis, int count) {
        return IntStream.range(0, count)
                .mapToDouble(i -> (fromMillis + stepMillis * i) * MILLI)
                .toArray();
    }

    /** Makes a step longer. */
    private static void shift(double[] ends, int from, double millis) {
        for (int i = from; i < ends.length; i++) {
            ends[i] += millis * MILLI;
        }
    }

    private ProbedAnswer observer(double[] tokenNanos) {
        return answer(0, 32, DoubleArrayList.wrap(tokenNanos));
    }

    private ProbedAnswer answer(double sentMillis, int numWords, DoubleList tokenNanos) {
        var request = new ProbeRequest(0, prompts.cold(numWords), 0, tokenNanos.size());
        return new ProbedAnswer(request, sentMillis * MILLI, numWords, tokenNanos);
    }

    /** A prompt of 500 tokens, 165 of which another one had: ten blocks of 16. */
    private ProbedAnswer prompt(double sentMillis, double firstNanos) {
        var request = new ProbeRequest(0, prompts.behindPrefix(165, 335), 165, 1);
        return new ProbedAnswer(request, sentMillis * MILLI, 500, DoubleList.of(firstNanos));
    }
}

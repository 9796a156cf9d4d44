package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class RampUpTest {

    @Test
    void linear_growsByEqualSteps() {
        var rampUp = new RampUp(false, 1, 5, 5);

        assertThat(IntStream.range(0, 7).mapToDouble(rampUp::perSecond).toArray())
                .containsExactly(1, 2, 3, 4, 5, 5, 5);
    }

    @Test
    void exponential_growsByEqualFactors() {
        var rampUp = new RampUp(true, 1, 16, 5);

        assertThat(IntStream.range(0, 5).mapToDouble(rampUp::perSecond).toArray())
                .containsExactly(new double[] {1, 2, 4, 8, 16}, within(1e-12));
    }

    @Test
    void oneRequest_comesAtTheFirstRate() {
        assertThat(new RampUp(true, 2, 16, 1).perSecond(0)).isEqualTo(2);
    }

    @Test
    void arrivals_haveTheGapsOfTheirOwnRates() {
        var arrivals = Arrivals.create(
                RequestRate.of(new RampUp(false, 1, 5, 5)),
                new Gaps(Double.POSITIVE_INFINITY, false),
                new RandomStreams(1),
                () -> 5);

        // Gaps of 1, 1/2, 1/3 and 1/4 s.
        var seconds = LongStream.range(0, 4)
                .mapToDouble(i -> arrivals.nextNanos() / 1e9)
                .toArray();
        assertThat(seconds).containsExactly(new double[] {1, 1.5, 1.8333, 2.0833}, within(1e-4));
    }
}

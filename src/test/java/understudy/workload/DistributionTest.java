package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class DistributionTest {
    private static final int DRAWS = 200_000;

    /** A distribution, its mean, and its standard deviation. */
    static Stream<Arguments> moments() {
        return Stream.of(
                Arguments.of(new Distribution.Fixed(512), 512, 0),
                // (max - min) / sqrt(12)
                Arguments.of(new Distribution.Uniform(100, 400), 250, 86.6),
                Arguments.of(new Distribution.Normal(512, 256), 512, 256),
                Arguments.of(new Distribution.LogNormal(200, 150), 200, 150),
                Arguments.of(new Distribution.Exponential(10), 10, 10));
    }

    @ParameterizedTest
    @MethodSource("moments")
    void sample_hasTheMomentsItWasAskedFor(Distribution distribution, double mean, double stddev) {
        var random = new RandomStreams(1).stream("test");
        double[] draws = DoubleStream.generate(() -> distribution.sample(random))
                .limit(DRAWS)
                .toArray();

        double actualMean = DoubleStream.of(draws).average().orElseThrow();
        double variance = DoubleStream.of(draws)
                .map(x -> (x - actualMean) * (x - actualMean))
                .average()
                .orElseThrow();
        // The mean of 200,000 draws is off by stddev / 447 in two of three cases; five times that is never seen. The
        // log-normal's fourth moment makes its deviation the slowest to settle.
        assertThat(actualMean).isCloseTo(mean, within(5 * stddev / 447 + 1e-9));
        assertThat(Math.sqrt(variance)).isCloseTo(stddev, within(0.05 * stddev + 1e-9));
    }

    @Test
    void wholeNumbers_areRoundedAndClamped() {
        var random = new RandomStreams(1).stream("test");

        assertThat(new WholeNumbers(new Distribution.Fixed(3.5), 1, 10).sample(random))
                .isEqualTo(4);
        assertThat(new WholeNumbers(new Distribution.Fixed(-3), 1, 10).sample(random))
                .isEqualTo(1);
        assertThat(new WholeNumbers(new Distribution.Fixed(1e30), 1, 10).sample(random))
                .isEqualTo(10);
        assertThat(WholeNumbers.fixed(7).sample(random)).isEqualTo(7);
        assertThatIllegalArgumentException().isThrownBy(() -> new WholeNumbers(new Distribution.Fixed(1), 0, 5));
        assertThatIllegalArgumentException().isThrownBy(() -> new WholeNumbers(new Distribution.Fixed(1), 6, 5));
    }

    @Test
    void clamped_movesOutliersToTheNearerEnd() {
        var random = new RandomStreams(1).stream("test");

        assertThat(new Distribution.Clamped(new Distribution.Fixed(-1), 0, 5).sample(random))
                .isZero();
        assertThat(new Distribution.Clamped(new Distribution.Fixed(9), 0, 5).sample(random))
                .isEqualTo(5);
        assertThat(new Distribution.Clamped(new Distribution.Fixed(3), 0, 5).sample(random))
                .isEqualTo(3);
    }
}

package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ArrivalsTest {
    private static final int COUNT = 100_000;

    @Test
    void constantRate_hasEqualGaps() {
        var arrivals = arrivals(4, Double.POSITIVE_INFINITY);

        assertThat(arrivals.nextNanos()).isEqualTo(250_000_000);
        assertThat(arrivals.nextNanos()).isEqualTo(500_000_000);
    }

    @Test
    void infiniteRate_isAllAtOnce() {
        var arrivals = arrivals(Double.POSITIVE_INFINITY, 1);

        assertThat(arrivals.nextNanos()).isZero();
        assertThat(arrivals.nextNanos()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1, 1.0", "0.25, 2.0", "4, 0.5"})
    void gammaGaps_varyByTheSquareRootOfBurstiness(double burstiness, double variation) {
        var arrivals = arrivals(10, burstiness);
        double sum = 0;
        double squares = 0;
        long last = 0;
        for (int i = 0; i < COUNT; i++) {
            long next = arrivals.nextNanos();
            double gap = (next - last) / 1e9;
            last = next;
            sum += gap;
            squares += gap * gap;
        }

        double mean = sum / COUNT;
        double stddev = Math.sqrt(squares / COUNT - mean * mean);
        // The mean gap is 0.1 s; a gamma distribution of shape k varies by 1 / sqrt(k) of its mean.
        assertThat(mean).isCloseTo(0.1, within(0.1 * 5 * variation / Math.sqrt(COUNT)));
        assertThat(stddev / mean).isCloseTo(variation, within(0.05 * variation));
    }

    private static Arrivals arrivals(double perSecond, double burstiness) {
        return Arrivals.create(RequestRate.constant(perSecond), burstiness, new RandomStreams(1).stream("arrivals"));
    }
}

package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
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

    /** 60 arrivals at 6 per second are 10 s, however the gaps are drawn; their order of length stays. */
    @ParameterizedTest
    @CsvSource({"1", "0.25", "4", "Infinity"})
    void scaledGaps_endWhenTheRateHasIt(double burstiness) {
        var rate = RequestRate.constant(6);
        var scaled = Arrivals.create(rate, new Gaps(burstiness, true), new RandomStreams(1), () -> 60);
        var asDrawn = arrivals(6, burstiness);
        double factor = scaled.nextNanos() / (double) asDrawn.nextNanos();
        for (int i = 1; i < 59; i++) {
            assertThat(scaled.nextNanos()).isCloseTo(Math.round(asDrawn.nextNanos() * factor), within(1000L));
        }

        assertThat(scaled.nextNanos()).isCloseTo(10_000_000_000L, within(1L));
    }

    /** 30 arrivals take the first 10 s at 3 per second, and 30 more 5 s at 6. */
    @Test
    void scaledGaps_followARateThatChanges() {
        var rate = RequestRate.constant(3).changing(List.of(new RequestRate.Piece(10e9, 6)));
        var arrivals = Arrivals.create(rate, new Gaps(1, true), new RandomStreams(1), () -> 60);

        long last = 0;
        for (int i = 0; i < 60; i++) {
            last = arrivals.nextNanos();
        }
        assertThat(last).isCloseTo(15_000_000_000L, within(1L));
    }

    @Test
    void gapsOfARampUp_areAsTheyAreDrawn() {
        var rate = RequestRate.of(new RampUp(false, 1, 10, 60));
        var scaled = Arrivals.create(rate, new Gaps(1, true), new RandomStreams(1), () -> 60);
        var asDrawn = Arrivals.create(rate, Gaps.POISSON, new RandomStreams(1), () -> 60);

        assertThat(scaled.nextNanos()).isEqualTo(asDrawn.nextNanos());
    }

    private static Arrivals arrivals(double perSecond, double burstiness) {
        return Arrivals.create(
                RequestRate.constant(perSecond), new Gaps(burstiness, false), new RandomStreams(1), () -> COUNT);
    }
}

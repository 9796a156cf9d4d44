package understudy.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BinnedSeriesTest {
    private static final long MILLI = 1_000_000;

    private final BinnedSeries series = new BinnedSeries();

    /** Intervals of 1 ms, each with its end: 5 at 1 ms, 2 from 1.5 ms on, 3 at 3 ms, and the rest of that until 3.5. */
    @Test
    void interval_hasItsLargestValue() {
        series.set(MILLI, 5);
        series.set(MILLI + MILLI / 2, 2);
        series.set(3 * MILLI, 3);
        series.end(3 * MILLI + MILLI / 2);

        assertThat(series.maxima()).containsExactly(5, 5, 3, 3);
        assertThat(series.seconds()).containsExactly(0.001, 0.002, 0.003, 0.0035);
    }

    /** 600 ms are 600 intervals of 1 ms, of which the first two have the 7; a moment later they are 301 of 2 ms. */
    @Test
    void tooManyIntervals_becomeHalfAsMany() {
        series.set(MILLI, 7);
        series.set(2 * MILLI, 0);
        series.set(600 * MILLI, 4);
        assertThat(series.maxima()).hasSize(600);
        series.end(600 * MILLI + 1);

        assertThat(series.maxima()).hasSize(301).startsWith(7, 0).endsWith(4, 4);
        assertThat(series.widthNanos()).isEqualTo(2 * MILLI);
    }

    /** 3 in the first millisecond and 1 in the half one behind it are 3,000 and 2,000 per second. */
    @Test
    void rates_arePerSecond() {
        series.add(MILLI, 3);
        series.add(MILLI + MILLI / 2, 1);

        assertThat(series.increases()).containsExactly(3, 1);
        assertThat(series.rates()).containsExactly(3000, 2000);
    }

    @Test
    void emptyRun_hasOneInterval() {
        series.end(0);

        assertThat(series.rates()).containsExactly(0);
    }
}

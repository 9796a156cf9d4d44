package understudy.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class QuantilesTest {
    /** Between 10 and 20, a quarter of the way is 12.5; percentiles go in steps of a half, so 25 is the 50th. */
    @Test
    void percentilesBetweenTwoValues_areInterpolated() {
        var line = Quantiles.line("x", 0, new double[] {20, 10});

        assertThat(line.xs().size()).isEqualTo(201);
        assertThat(line.xs().getDouble(0)).isEqualTo(10);
        assertThat(line.xs().getDouble(50)).isEqualTo(12.5);
        assertThat(line.ys().getDouble(50)).isEqualTo(25);
        assertThat(line.xs().getDouble(200)).isEqualTo(20);
    }

    @Test
    void noValues_areNoLine() {
        assertThat(Quantiles.line("x", 0, new double[0]).xs().size()).isZero();
    }
}

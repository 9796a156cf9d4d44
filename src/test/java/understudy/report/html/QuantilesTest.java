package understudy.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

final class QuantilesTest {
    private static final double NANOS_PER_MILLI = 1e6;

    /** Between 10 and 20, a quarter of the way is 12.5; percentiles go in steps of a half, so 25 is the 50th. */
    @Test
    void percentilesBetweenTwoValues_areInterpolated() {
        var chart = chart(20 * NANOS_PER_MILLI, 10 * NANOS_PER_MILLI);
        var line = chart.series().get(0);

        assertThat(chart.x()).isEqualTo(new HtmlChart.Axis("TTFT", "ms"));
        assertThat(line.xs().size()).isEqualTo(201);
        assertThat(line.xs().getDouble(0)).isEqualTo(10);
        assertThat(line.xs().getDouble(50)).isEqualTo(12.5);
        assertThat(line.ys().getDouble(50)).isEqualTo(25);
        assertThat(line.xs().getDouble(200)).isEqualTo(20);
    }

    @Test
    void aSecondAndMore_isShownInSeconds() {
        var chart = chart(1500 * NANOS_PER_MILLI, 500 * NANOS_PER_MILLI);

        assertThat(chart.x()).isEqualTo(new HtmlChart.Axis("TTFT", "s"));
        assertThat(chart.series().get(0).xs().getDouble(100)).isEqualTo(1);
    }

    @Test
    void noValues_areNoLine() {
        assertThat(chart().series().get(0).xs().size()).isZero();
    }

    private static HtmlChart chart(double... nanos) {
        return Quantiles.chart("ttft", "TTFT", Quantiles.Latencies.of("x", DoubleStream.of(nanos)));
    }
}

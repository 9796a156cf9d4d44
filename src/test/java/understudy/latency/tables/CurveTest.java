package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class CurveTest {
    private static final double EXACT = 1e-9;

    @Test
    void curve_interpolatesHoldsAndGoesOnInProportion() {
        var curve = curve(16, 20, 32, 60);

        assertThat(curve.applyAsDouble(1)).as("below").isEqualTo(20);
        assertThat(curve.applyAsDouble(24)).as("half way").isEqualTo(40);
        assertThat(curve.applyAsDouble(32)).isEqualTo(60);
        assertThat(curve.applyAsDouble(64)).as("beyond").isEqualTo(120);
        // The last segment grows by 40 in 16: 64 is 80 above 32.
        assertThat(curve.onLastSlope(64)).isCloseTo(140, within(EXACT));
    }

    @Test
    void equalPoints_areAveraged() {
        var builder = new Curve.Builder();
        builder.add(8, 10);
        builder.add(8, 14);

        assertThat(builder.build().applyAsDouble(8)).isEqualTo(12);
    }

    @Test
    void spikes_areCutFromAboveDown() {
        var smooth = curve(1, 400, 2, 300, 4, 20, 8, 10).smoothed(1.3);

        // 13 at 4 since 10 follows; then 1.3 times as much for each.
        assertThat(smooth.applyAsDouble(4)).isCloseTo(13, within(EXACT));
        assertThat(smooth.applyAsDouble(2)).isCloseTo(16.9, within(EXACT));
        assertThat(smooth.applyAsDouble(1)).isCloseTo(21.97, within(EXACT));
    }

    @Test
    void grid_isBilinearAndGoesOnOnTheLastSlopes() {
        var grid = new Grid(new TreeMap<>(Map.of(1.0, curve(2, 10, 4, 20, 8, 40), 2.0, curve(2, 30, 4, 40))));

        assertThat(grid.micros(1, 3)).isCloseTo(15, within(EXACT));
        assertThat(grid.micros(1.5, 3)).as("between 15 and 35").isCloseTo(25, within(EXACT));
        assertThat(grid.micros(2, 8))
                .as("not measured: 40, and 5 for each of the 4 more")
                .isCloseTo(60, within(EXACT));
        assertThat(grid.micros(1, 16)).as("40, and 5 for each of 8 more").isCloseTo(80, within(EXACT));
        assertThat(grid.micros(3, 4)).as("20 more for each batch").isCloseTo(60, within(EXACT));
        assertThat(grid.micros(0.5, 1)).as("below the first").isCloseTo(10, within(EXACT));
        assertThat(grid.maxLength()).isEqualTo(8);
    }

    @Test
    void prefills_areLinearInTheRootAndSquareBeyond() {
        var table = new AttentionTable(curve(100, 4, 200, 16), grid(), decodes -> 4 * decodes);

        // Half way the root is 3.
        assertThat(table.prefillMicros(150)).isCloseTo(9, within(EXACT));
        assertThat(table.prefillMicros(400)).as("four times as much").isCloseTo(64, within(EXACT));
        assertThat(table.decodeMicros(1, 2)).as("10 less 4").isCloseTo(6, within(EXACT));
    }

    private static Grid grid() {
        return new Grid(new TreeMap<>(Map.of(1.0, curve(2, 10, 4, 20), 2.0, curve(2, 20, 4, 40))));
    }

    private static Curve curve(double... points) {
        var builder = new Curve.Builder();
        for (int i = 0; i < points.length; i += 2) {
            builder.add(points[i], points[i + 1]);
        }
        return builder.build();
    }
}

package understudy.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import understudy.report.Figures;
import understudy.report.Result;

final class CurveTest {
    private static final double NANOS_PER_MILLI = 1e6;

    /** Nine digits along, five up. */
    @Test
    void numbers_areRounded_andGapsAreNull() {
        double[] xs = {1.23456789012, 2};
        double[] ys = {1.23456789012, Double.NaN};

        assertThat(json(Curve.of("a", xs, ys)))
                .hasToString("{\"name\":\"a\",\"xs\":[1.23456789,2],\"ys\":[1.2346,null]}");
    }

    /** Between 10 and 20, a quarter of the way is 12.5; percentiles go in steps of a half, so 25 is the 50th. */
    @Test
    void percentilesBetweenTwoValues_areInterpolated() {
        var line = json(Curve.ofQuantiles(DoubleStream.of(20 * NANOS_PER_MILLI, 10 * NANOS_PER_MILLI)));

        assertThat(line.get("xs")).hasSize(201);
        assertThat(line.at("/xs/0").asDouble()).isEqualTo(10);
        assertThat(line.at("/xs/50").asDouble()).isEqualTo(12.5);
        assertThat(line.at("/ys/50").asDouble()).isEqualTo(25);
        assertThat(line.at("/xs/200").asDouble()).isEqualTo(20);
    }

    @Test
    void noValues_areNoLine() {
        assertThat(json(Curve.ofQuantiles(DoubleStream.empty()))).hasToString("{\"xs\":[],\"ys\":[]}");
    }

    private static JsonNode json(Figures figures) {
        return new Result(figures).tree();
    }
}

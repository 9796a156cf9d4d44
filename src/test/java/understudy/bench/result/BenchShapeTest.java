package understudy.bench.result;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.report.ResultShape;

/** Keys and words of a benchmark's result. */
final class BenchShapeTest {

    @Test
    void benchmark_keepsKeysAndWords() {
        var result = ResultFixture.result();
        var choice = new MetricChoice(MetricChoice.KNOWN, List.of(50.0, 99.0, 99.9));
        var options = new BenchFigures.Options("label", Map.of("version", "7"), true, choice);

        var figures = BenchFigures.of(result, options);

        ResultShape.assertIsThatOf(
                "bench",
                ResultShape.ofJson(figures.json()) + "\n"
                        + ResultShape.ofText(figures.text()) + "\n"
                        + ResultShape.ofText(StreamingText.write(result)));
    }
}

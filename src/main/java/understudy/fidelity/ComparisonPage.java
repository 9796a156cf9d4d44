package understudy.fidelity;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import understudy.fidelity.ResultFile.RequestTimes;
import understudy.report.Figures;
import understudy.report.html.Curve;
import understudy.report.html.Page;

/** Page of a comparison: the table, bars of the percentiles that both have, and quantiles where both have their requests. */
final class ComparisonPage {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final List<String> METRICS = List.of("ttft", "tpot", "itl", "e2el");
    private static final List<String> STATISTICS = List.of("mean", "median", "p90", "p95", "p99");

    private final ResultFile real;
    private final ResultFile emulated;

    ComparisonPage(ResultFile real, ResultFile emulated) {
        this.real = real;
        this.emulated = emulated;
    }

    /** Writes the page with the comparison's own data, to which the pictures are added. */
    void write(Figures data, Writer out) throws IOException {
        data.add(
                "percentiles",
                METRICS.stream().map(this::bars).flatMap(Optional::stream).toList());
        if (!real.requests().isEmpty() && !emulated.requests().isEmpty()) {
            data.addObject("quantiles")
                    .add("ttft", quantiles(RequestTimes::ttftMillis))
                    .add("tpot", quantiles(RequestTimes::tpotMillis))
                    .add("e2el", quantiles(RequestTimes::e2elMillis));
        }
        var main = new Figures();
        real.metrics().forEach((key, value) -> {
            if (emulated.metrics().containsKey(key)) {
                main.add("real." + key, value)
                        .add("emulated." + key, emulated.metrics().get(key));
            }
        });
        new Page("Real and emulated", "understudy/fidelity/comparison.html", data, main).write(out);
    }

    private Optional<Figures> bars(String metric) {
        var both = STATISTICS.stream()
                .map(each -> each + "_" + metric + "_ms")
                .filter(key ->
                        real.metrics().containsKey(key) && emulated.metrics().containsKey(key))
                .toList();
        return both.isEmpty()
                ? Optional.empty()
                : Optional.of(new Figures()
                        .add("name", metric + "-bars")
                        .add("title", metric.toUpperCase(Locale.ROOT))
                        .add(
                                "labels",
                                both.stream()
                                        .map(key -> key.substring(0, key.indexOf('_')))
                                        .toList())
                        .add(
                                "series",
                                List.of(
                                        Curve.bars("real", values(real.metrics(), both)),
                                        Curve.bars("emulated", values(emulated.metrics(), both)))));
    }

    private static double[] values(Map<String, Double> metrics, List<String> keys) {
        return keys.stream()
                .mapToDouble(key -> metrics.getOrDefault(key, Double.NaN))
                .toArray();
    }

    private Figures quantiles(ToDoubleFunction<RequestTimes> millis) {
        return new Figures()
                .add("real", Curve.ofQuantiles(nanos(real, millis)))
                .add("emulated", Curve.ofQuantiles(nanos(emulated, millis)));
    }

    private static DoubleStream nanos(ResultFile file, ToDoubleFunction<RequestTimes> millis) {
        return file.requests().values().stream()
                .mapToDouble(millis)
                .filter(Double::isFinite)
                .map(each -> each * NANOS_PER_MILLI);
    }
}

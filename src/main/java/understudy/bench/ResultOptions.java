package understudy.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.bench.result.BenchFigures;
import understudy.bench.result.BenchResult;
import understudy.bench.result.MetricChoice;
import understudy.bench.result.StreamingText;
import understudy.report.Result;
import understudy.settings.Numbers;
import understudy.settings.ScenarioException;

/** Options of a benchmark that say what its result looks like, and what is good. */
public final class ResultOptions {
    private static final Set<String> LIMITED = Set.of("ttft", "tpot", "e2el");

    private enum Format {
        VLLM,
        ROSEINFER
    }

    @Option(
            names = "--goodput",
            arity = "1..*",
            paramLabel = "METRIC:MS",
            description = "Limits that a good request keeps: ttft:200 tpot:50 e2el:5000; short for section slo.")
    private List<String> goodput = List.of();

    @Option(names = "--format", paramLabel = "NAME", description = "vllm, or roseinfer's streaming benchmark.")
    private Format format = Format.VLLM;

    @Option(
            names = "--percentile-metrics",
            paramLabel = "LIST",
            split = ",",
            description = "Latencies to report, default all.")
    private List<String> percentileMetrics = MetricChoice.KNOWN;

    @Option(names = "--metric-percentiles", paramLabel = "LIST", split = ",", description = "Percentiles, default 99.")
    private List<Double> percentiles = List.of(99.0);

    @Option(names = "--save-detailed", description = "Keeps lists with an entry for each request in it.")
    private boolean isDetailed;

    @Option(names = "--label", paramLabel = "NAME", description = "Beginning of that name.")
    private @Nullable String label;

    @Option(names = "--metadata", paramLabel = "KEY=VALUE", description = "More keys of the JSON, repeatable.")
    private Map<String, String> metadata = new LinkedHashMap<>();

    /** Refuses metrics and percentiles that there are not. */
    public void check() {
        for (String metric : percentileMetrics) {
            if (!MetricChoice.KNOWN.contains(metric)) {
                throw new ScenarioException(
                        "--percentile-metrics " + metric + ": must be one of " + String.join(", ", MetricChoice.KNOWN));
            }
        }
        for (double percentile : percentiles) {
            if (!(percentile >= 0 && percentile <= 100)) {
                throw new ScenarioException("--metric-percentiles " + percentile + ": must be from 0 to 100");
            }
        }
    }

    /** Returns the settings that the limits of goodput are short for. */
    public Map<String, String> serviceLevels() {
        var settings = new LinkedHashMap<String, String>();
        for (String limit : goodput) {
            var parts = limit.split(":", -1);
            if (parts.length != 2 || !LIMITED.contains(parts[0]) || !(Numbers.parse(parts[1]) >= 0)) {
                throw new ScenarioException("--goodput " + limit
                        + ": must be a metric and a number of milliseconds, such as ttft:200, tpot:50 or e2el:5000");
            }
            settings.put("slo." + parts[0], parts[1] + "ms");
        }
        return settings;
    }

    /** Returns the figures of vLLM's report, whatever the format is. */
    private Result figures(BenchResult result, boolean isDetailed) {
        var choice = new MetricChoice(percentileMetrics, percentiles);
        return BenchFigures.of(result, new BenchFigures.Options(label, metadata, isDetailed, choice));
    }

    /** Returns the figures without lists that have an entry for each request. */
    public Result totals(BenchResult result) {
        return figures(result, false);
    }

    /** Returns the result for people. */
    public String text(BenchResult result) {
        return format == Format.ROSEINFER
                ? StreamingText.write(result)
                : figures(result, isDetailed).text();
    }

    /** Returns the result for machines. */
    public String json(BenchResult result) {
        return figures(result, isDetailed).json();
    }

    /** Returns the name that vLLM gives the file of a result. */
    public String fileName(BenchResult result) {
        return BenchFigures.fileName(result.setup(), label);
    }
}

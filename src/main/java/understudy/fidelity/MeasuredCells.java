package understudy.fidelity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.github.freva.asciitable.ColumnData;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.ToDoubleFunction;
import understudy.host.Emulation;
import understudy.report.Invariants;
import understudy.report.RunReport;
import understudy.report.Tables;
import understudy.scenario.Scenario;
import understudy.scenario.Section;

/**
 * Runs a table of measured mean times at fixed concurrency, cell by cell, each as a closed loop on one replica with as
 * many GPUs and clients as the cell says, and compares.
 */
public final class MeasuredCells {
    private static final ObjectWriter JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build()
            .writerWithDefaultPrettyPrinter();
    private static final double NANOS_PER_MILLI = 1e6;
    private static final long WAIT_MILLIS = 60_000;

    private final Config config;
    private final Section settings;
    private final List<Outcome> outcomes = new ArrayList<>();

    /** Cell, and its means in the emulation, in milliseconds. */
    private record Outcome(MeasuredCell cell, double ttftMillis, double tpotMillis) {
        double ttftErrorPercent() {
            return (ttftMillis / cell.ttftMillis() - 1) * 100;
        }

        double tpotErrorPercent() {
            return (tpotMillis / cell.tpotMillis() - 1) * 100;
        }
    }

    /** Takes a merged scenario, whose section {@code fidelity} names the table. */
    public MeasuredCells(Config config) {
        this.config = config;
        settings = new Section(config.getConfig("fidelity"), "fidelity");
    }

    /** Reads the table, and checks the scenario of every cell before any is run. */
    private List<MeasuredCell> read() {
        int outputTokens = settings.wholeNumber("output-tokens", 0, Integer.MAX_VALUE);
        var cells = MeasuredCell.read(settings.file("cells", "but there is nothing to compare with")).stream()
                .filter(cell -> outputTokens == 0 || cell.outputTokens() == outputTokens)
                .toList();
        if (cells.isEmpty()) {
            throw settings.unusable("output-tokens", "but no row of the table has it as osl");
        }
        cells.forEach(cell -> Scenario.read(configOf(cell)).workloadSource());
        return cells;
    }

    /** Runs every cell. */
    public void run() throws InterruptedException, ExecutionException {
        for (var cell : read()) {
            var report = run(Scenario.read(configOf(cell)));
            outcomes.add(new Outcome(
                    cell,
                    report.ttft().meanNanos() / NANOS_PER_MILLI,
                    report.tpot().meanNanos() / NANOS_PER_MILLI));
        }
    }

    /** Returns a table with a line per cell, and the mean errors. */
    public String text() {
        return table() + summary();
    }

    /** The comparison as JSON, in snake case. */
    private record Comparison(
            double meanAbsoluteTtftErrorPercent, double meanAbsoluteTpotErrorPercent, List<Row> cells) {}

    private record Row(
            int isl,
            int osl,
            int tp,
            int concurrency,
            double measuredMeanTtftMs,
            double meanTtftMs,
            double measuredMeanTpotMs,
            double meanTpotMs) {}

    /** Returns the same as JSON. */
    public String json() throws JsonProcessingException {
        var rows = outcomes.stream()
                .map(outcome -> new Row(
                        outcome.cell.inputTokens(),
                        outcome.cell.outputTokens(),
                        outcome.cell.tensorParallelSize(),
                        outcome.cell.concurrency(),
                        outcome.cell.ttftMillis(),
                        outcome.ttftMillis,
                        outcome.cell.tpotMillis(),
                        outcome.tpotMillis))
                .toList();
        return JSON.writeValueAsString(new Comparison(
                        meanAbsolute(Outcome::ttftErrorPercent), meanAbsolute(Outcome::tpotErrorPercent), rows))
                + "\n";
    }

    private static RunReport run(Scenario scenario) throws InterruptedException, ExecutionException {
        try (var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(scenario.workloadSource(), true), Double.POSITIVE_INFINITY);
            var result = await(emulation);
            var broken = Invariants.check(result.run());
            if (!broken.isEmpty()) {
                throw new IllegalStateException("invariants broken: " + broken);
            }
            return RunReport.of(result.run());
        }
    }

    private static Emulation.Result await(Emulation emulation) throws InterruptedException, ExecutionException {
        while (true) {
            try {
                return emulation.await(WAIT_MILLIS);
            } catch (TimeoutException e) {
                System.err.println("still at " + emulation.virtualSeconds() + " s of virtual time");
            }
        }
    }

    private Config configOf(MeasuredCell cell) {
        int perClient = settings.wholeNumber("requests-per-client", 1, 1_000_000);
        var changes = ConfigFactory.parseMap(
                Map.of(
                        "workload.kind", "generated",
                        "workload.requests", (long) perClient * cell.concurrency(),
                        "workload.arrivals.request-rate", "inf",
                        "workload.max-concurrency", cell.concurrency(),
                        "workload.lengths.prompt", lengths(cell.inputTokens()),
                        "workload.lengths.output", lengths(cell.outputTokens()),
                        "latency.tensor-parallel-size", cell.tensorParallelSize(),
                        "engine.max-num-seqs", cell.concurrency()),
                "measured cell");
        return changes.withFallback(config);
    }

    private Map<String, Object> lengths(int longest) {
        int shortest = Math.max(1, (int) (settings.number("shortest", 0, 1) * longest));
        return Map.of("kind", "uniform", "min", shortest, "max", longest);
    }

    private String table() {
        List<ColumnData<Outcome>> columns = List.of(
                Tables.counts("isl", o -> o.cell.inputTokens()),
                Tables.counts("osl", o -> o.cell.outputTokens()),
                Tables.counts("tp", o -> o.cell.tensorParallelSize()),
                Tables.counts("concurrency", o -> o.cell.concurrency()),
                Tables.decimals("TTFT ms", "%.2f", o -> o.cell.ttftMillis()),
                Tables.decimals("emulated", "%.2f", Outcome::ttftMillis),
                Tables.decimals("error", "%+.1f %%", Outcome::ttftErrorPercent),
                Tables.decimals("TPOT ms", "%.2f", o -> o.cell.tpotMillis()),
                Tables.decimals("emulated", "%.2f", Outcome::tpotMillis),
                Tables.decimals("error", "%+.1f %%", Outcome::tpotErrorPercent));
        return Tables.text(outcomes, columns) + "\n";
    }

    private String summary() {
        return String.format(
                Locale.ROOT,
                "%d rows, mean absolute error: TTFT %.1f %%, TPOT %.1f %%%n",
                outcomes.size(),
                meanAbsolute(Outcome::ttftErrorPercent),
                meanAbsolute(Outcome::tpotErrorPercent));
    }

    private double meanAbsolute(ToDoubleFunction<Outcome> error) {
        return outcomes.stream()
                .mapToDouble(outcome -> Math.abs(error.applyAsDouble(outcome)))
                .average()
                .orElse(0);
    }
}

package understudy.fidelity;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.freva.asciitable.AsciiTable;
import com.github.freva.asciitable.ColumnData;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import understudy.host.Emulation;
import understudy.report.Invariants;
import understudy.report.RunReport;
import understudy.report.Tables;
import understudy.scenario.Scenario;
import understudy.scenario.Section;

/**
 * Runs a table of measured mean times at fixed concurrency, cell by cell, each as a closed loop on one replica with as many
 * GPUs and clients as the cell says, and compares.
 */
public final class MeasuredCells {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final long WAIT_MILLIS = 60_000;

    private final Config config;
    private final Section settings;
    private final List<Outcome> outcomes = new ArrayList<>();

    /** A cell and what the emulation made of it, in milliseconds. */
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
        cells.forEach(cell -> Scenario.read(configOf(cell)).openWorkload().close());
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

    /** Returns the same as JSON. */
    public String json() {
        var json = new ObjectMapper().createObjectNode();
        json.put("mean_absolute_ttft_error_percent", meanAbsolute(Outcome::ttftErrorPercent));
        json.put("mean_absolute_tpot_error_percent", meanAbsolute(Outcome::tpotErrorPercent));
        var rows = json.putArray("cells");
        for (var outcome : outcomes) {
            rows.addObject()
                    .put("isl", outcome.cell.inputTokens())
                    .put("osl", outcome.cell.outputTokens())
                    .put("tp", outcome.cell.tensorParallelSize())
                    .put("concurrency", outcome.cell.concurrency())
                    .put("measured_mean_ttft_ms", outcome.cell.ttftMillis())
                    .put("mean_ttft_ms", outcome.ttftMillis)
                    .put("measured_mean_tpot_ms", outcome.cell.tpotMillis())
                    .put("mean_tpot_ms", outcome.tpotMillis);
        }
        return json.toPrettyString() + "\n";
    }

    private static RunReport run(Scenario scenario) throws InterruptedException, ExecutionException {
        try (var emulation = new Emulation();
                var workload = scenario.openWorkload()) {
            emulation.start(scenario.clusterSpec(workload), Double.POSITIVE_INFINITY);
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
        return AsciiTable.builder()
                        .border(AsciiTable.BASIC_ASCII_NO_DATA_SEPARATORS)
                        .data(
                                outcomes,
                                List.of(
                                        count("isl", o -> o.cell.inputTokens()),
                                        count("osl", o -> o.cell.outputTokens()),
                                        count("tp", o -> o.cell.tensorParallelSize()),
                                        count("concurrency", o -> o.cell.concurrency()),
                                        decimal("TTFT ms", o -> o.cell.ttftMillis()),
                                        decimal("emulated", Outcome::ttftMillis),
                                        percent(Outcome::ttftErrorPercent),
                                        decimal("TPOT ms", o -> o.cell.tpotMillis()),
                                        decimal("emulated", Outcome::tpotMillis),
                                        percent(Outcome::tpotErrorPercent)))
                        .asString()
                + "\n";
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

    private static ColumnData<Outcome> count(String header, Function<Outcome, Integer> value) {
        return Tables.number(header).with(outcome -> String.valueOf(value.apply(outcome)));
    }

    private static ColumnData<Outcome> decimal(String header, ToDoubleFunction<Outcome> value) {
        return Tables.number(header).with(outcome -> String.format(Locale.ROOT, "%.2f", value.applyAsDouble(outcome)));
    }

    private static ColumnData<Outcome> percent(ToDoubleFunction<Outcome> value) {
        return Tables.number("error")
                .with(outcome -> String.format(Locale.ROOT, "%+.1f %%", value.applyAsDouble(outcome)));
    }
}

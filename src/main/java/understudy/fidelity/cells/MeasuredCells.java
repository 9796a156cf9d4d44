package understudy.fidelity.cells;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Pattern;
import understudy.settings.Numbers;
import understudy.workload.files.TraceException;
import understudy.workload.trace.CsvTable;

/**
 * Table of measured means: rows with the same setup are one cell. Columns are those of AIConfigurator's and InferenceMAX's
 * tables; others do not matter.
 *
 * @param cells in the order of {@link MeasuredSetup#ORDER}
 * @param contradicting rows that cannot be true
 * @param leftOut rows that say themselves that they cannot be run again
 * @param assumed of rows that are read otherwise than they stand there
 */
public record MeasuredCells(
        List<MeasuredCell> cells, List<Remark> contradicting, List<Remark> leftOut, List<Remark> assumed) {
    private static final List<String> REQUIRED = List.of("isl", "osl");
    private static final String[] TTFT = {"silicon_ttft_ms", "mean_ttft_ms"};
    private static final String[] TPOT = {"silicon_tpot_ms", "mean_tpot_ms"};
    private static final String[] TENSOR_PARALLEL = {"tp_size", "tp"};
    private static final String[] DATA_PARALLEL = {"attention_dp_size", "dp"};
    private static final String[] MODEL = {"model_path", "model"};
    private static final String[] GPU = {"system", "gpu"};
    private static final String SOURCE = "silicon_data_source";
    private static final String REQUEST_THROUGHPUT = "request_throughput";
    private static final String OUTPUT_THROUGHPUT = "output_throughput";
    private static final String BATCH = "batch_size";
    private static final Pattern CONCURRENCY = Pattern.compile("silicon_concurrency=([0-9]{1,9})");

    /**
     * Reads a file, gzip'd or not.
     *
     * @param engine kind of the engine that is to run the cells; rows that name another one are left out
     */
    public static MeasuredCells read(Path file, String engine) {
        var rows = new ArrayList<MeasuredRow>();
        var leftOut = new ArrayList<Remark>();
        try (var csv = new CsvTable(file)) {
            while (csv.next(REQUIRED)) {
                try {
                    rows.add(row(csv, engine));
                } catch (TraceException e) {
                    leftOut.add(new Remark(List.of(csv.line()), name(csv), e.problem()));
                }
            }
        }
        if (rows.isEmpty() && leftOut.isEmpty()) {
            throw new TraceException(
                    file.toString(), "has no rows; a header and a row for each measured cell are needed");
        }
        var contradictions = new Contradictions(rows);
        var consistent = contradictions.consistent();
        return new MeasuredCells(
                cells(consistent),
                contradictions.remarks(),
                leftOut,
                consistent.stream().flatMap(row -> row.assumptions().stream()).toList());
    }

    private static List<MeasuredCell> cells(List<MeasuredRow> rows) {
        var cells = new LinkedHashMap<MeasuredSetup, MeasuredCell>();
        rows.stream().map(MeasuredRow::cell).forEach(cell -> cells.merge(cell.setup(), cell, MeasuredCell::and));
        return cells.values().stream()
                .sorted((a, b) -> MeasuredSetup.ORDER.compare(a.setup(), b.setup()))
                .toList();
    }

    private static MeasuredRow row(CsvTable csv, String engine) {
        requireRunnable(csv, engine);
        var layout = RowLayout.of(
                size(csv, 1, TENSOR_PARALLEL),
                size(csv, 1, DATA_PARALLEL),
                size(csv, 0, "moe_tp_size"),
                size(csv, 0, "moe_ep_size"));
        var setup = setup(csv, layout);
        return new MeasuredRow(
                new MeasuredCell(setup, List.of(csv.line()), positive(csv, TTFT), positive(csv, TPOT)),
                requestsPerSecond(csv, setup.outputTokens()),
                layout.assumed());
    }

    private static OptionalDouble requestsPerSecond(CsvTable csv, int outputTokens) {
        if (!csv.text(REQUEST_THROUGHPUT).isEmpty()) {
            return OptionalDouble.of(csv.positive(REQUEST_THROUGHPUT));
        }
        return csv.text(OUTPUT_THROUGHPUT).isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(csv.positive(OUTPUT_THROUGHPUT) / outputTokens);
    }

    private static String name(CsvTable csv) {
        return (text(csv, MODEL) + " " + text(csv, GPU) + " " + csv.text("isl") + "/" + csv.text("osl")).strip();
    }

    private static void requireRunnable(CsvTable csv, String engine) {
        String measured = csv.text("backend");
        if (!measured.isEmpty() && !measured.equalsIgnoreCase(engine)) {
            throw csv.problem("another engine: " + measured);
        }
        String mode = csv.text("mode");
        if (!mode.isEmpty() && !mode.equalsIgnoreCase("agg")) {
            throw csv.problem(mode.equalsIgnoreCase("disagg") ? "prefill and decode apart" : "mode is " + mode);
        }
        if (csv.text(SOURCE).contains("/Users/")) {
            throw csv.problem("conditions unknown: the source is a file under /Users/");
        }
        if (size(csv, 1, "pp_size") > 1) {
            throw csv.problem("pipeline parallelism is not modelled");
        }
    }

    private static MeasuredSetup setup(CsvTable csv, RowLayout layout) {
        return MeasuredSetupBuilder.builder()
                .model(text(csv, MODEL))
                .gpu(text(csv, GPU))
                .version(csv.text("backend_version"))
                .weights(text(csv, "gemm_quant_mode", "precision"))
                .expertWeights(text(csv, "moe_quant_mode"))
                .kvCacheDtype(text(csv, "kv_cache_dtype", "kvcache_quant_mode"))
                .tensorParallelSize(layout.tensorParallelSize())
                .dataParallelSize(layout.dataParallelSize())
                .moeTensorParallelSize(layout.moeTensorParallelSize())
                .expertParallelSize(layout.expertParallelSize())
                .inputTokens(whole(csv, "isl", 1))
                .outputTokens(whole(csv, "osl", 1))
                .concurrency(concurrency(csv, layout.dataParallelSize()))
                .build();
    }

    /** A batch is what all engines have in flight, or each of them. */
    private static int concurrency(CsvTable csv, int dataParallelSize) {
        var inSource = CONCURRENCY.matcher(csv.text(SOURCE));
        int batch = size(csv, 0, BATCH);
        int stated = inSource.find() ? Integer.parseInt(inSource.group(1)) : size(csv, batch, "concurrency");
        if (stated < 1) {
            throw csv.problem("concurrency unknown");
        }
        if (batch > 0 && batch != stated && (long) batch * dataParallelSize != stated) {
            throw csv.problem("batch_size is not the concurrency");
        }
        return stated;
    }

    /** Returns the first of some columns that says something. */
    private static String text(CsvTable csv, String... columns) {
        return csv.text(column(csv, columns));
    }

    private static String column(CsvTable csv, String... columns) {
        for (String column : columns) {
            if (!csv.text(column).isEmpty()) {
                return column;
            }
        }
        return columns[0];
    }

    private static int size(CsvTable csv, int otherwise, String... columns) {
        String column = column(csv, columns);
        return csv.text(column).isEmpty() ? otherwise : Math.max(otherwise, whole(csv, column, 0));
    }

    /** Returns a whole number, which may be written as 8.0. */
    private static int whole(CsvTable csv, String column, int min) {
        long number = Numbers.parseWhole(csv.text(column)).orElse(-1);
        if (number < min || number > Integer.MAX_VALUE) {
            throw csv.unusable(column, csv.text(column), "a whole number of at least " + min);
        }
        return (int) number;
    }

    private static double positive(CsvTable csv, String... columns) {
        return csv.positive(column(csv, columns));
    }
}

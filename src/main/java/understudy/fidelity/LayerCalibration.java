package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import understudy.latency.GpuSpec;
import understudy.latency.LayerFit;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.WeightFormat;
import understudy.report.Tables;
import understudy.scenario.GpuFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.trace.CsvTable;

/**
 * Fits three figures of a GPU to measured transformer layers, and says how well they predict models they were not
 * fitted to.
 */
public final class LayerCalibration {
    /** Column that identifies such a file. */
    public static final String TIME = "layer_us";

    private static final List<String> COLUMNS =
            List.of("model", "tp", "m", "n_head", "n_kv_head", "n_embd", "n_expanded_embd", "use_gated_mlp", TIME);
    private static final int SMALL_BATCH = 256;
    private static final int LARGE_BATCH = 512;

    private LayerCalibration() {}

    /** Mean absolute errors in percent of the steps in a range of sizes. */
    private record Errors(String tokens, int numRows, double leftOut, double byDataSheet) {}

    /** Reads the file and fits; {@code base} gives the data sheet. */
    public static Calibration of(Path file, Section base) {
        var measurements = read(file);
        var gpu = GpuFile.read(base);
        if (!gpu.spec().hasDataSheet()) {
            throw new ScenarioException(file + " has measured layers, which need a data sheet: --gpu NAME");
        }
        var fit = new LayerFit(gpu.spec(), measurements);
        double[] leftOut = fit.predictLeavingOneModelOut();
        double[] byDataSheet = fit.predictByDataSheet();
        var errors = List.of(
                errors(measurements, leftOut, byDataSheet, 1, SMALL_BATCH),
                errors(measurements, leftOut, byDataSheet, SMALL_BATCH + 1, LARGE_BATCH - 1),
                errors(measurements, leftOut, byDataSheet, LARGE_BATCH, Integer.MAX_VALUE));
        return new Calibration(table(errors), device(base, fit.fit(), file), List.of());
    }

    private static List<LayerFit.Measurement> read(Path file) {
        var measurements = new ArrayList<LayerFit.Measurement>();
        try (var csv = new CsvTable(file)) {
            while (csv.next(COLUMNS)) {
                measurements.add(new LayerFit.Measurement(
                        layer(csv), csv.wholeNumber("tp", 1), csv.wholeNumber("m", 1), csv.positive(TIME)));
            }
        }
        return measurements;
    }

    private static LlmSpec layer(CsvTable csv) {
        int hidden = csv.wholeNumber("n_embd", 1);
        int heads = csv.wholeNumber("n_head", 1);
        var attention = new LlmSpec.Attention(
                heads, csv.wholeNumber("n_kv_head", 1), Math.max(1, hidden / heads), QkNorm.NONE, false, 0, 0, null);
        boolean isGated = csv.text("use_gated_mlp").equalsIgnoreCase("true");
        var feedForward =
                new LlmSpec.FeedForward(csv.wholeNumber("n_expanded_embd", 1), isGated, 1, 0, 0, 0, 0, false, false);
        return LlmSpecBuilder.builder()
                .name(csv.text("model"))
                .numLayers(1)
                .hiddenSize(hidden)
                .vocabSize(1)
                .tiesEmbeddings(true)
                .maxPositionEmbeddings(1)
                .attention(attention)
                .feedForward(feedForward)
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }

    private static Errors errors(
            List<LayerFit.Measurement> measurements, double[] leftOut, double[] byDataSheet, int from, int to) {
        double sumLeftOut = 0;
        double sumByDataSheet = 0;
        int count = 0;
        for (int i = 0; i < measurements.size(); i++) {
            var measured = measurements.get(i);
            if (measured.numTokens() >= from && measured.numTokens() <= to) {
                sumLeftOut += Math.abs(leftOut[i] / measured.micros() - 1);
                sumByDataSheet += Math.abs(byDataSheet[i] / measured.micros() - 1);
                count++;
            }
        }
        String tokens = to == Integer.MAX_VALUE ? "from " + from : from + " to " + to;
        return new Errors(tokens, count, percent(sumLeftOut, count), percent(sumByDataSheet, count));
    }

    private static double percent(double sum, int count) {
        return count == 0 ? 0 : sum / count * 100;
    }

    private static Section device(Section base, GpuSpec fitted, Path file) {
        var gemm = fitted.gemm();
        return base.with(
                        "gemm",
                        Map.of(
                                "compute-efficiency", decimal("%.4f", gemm.compute()),
                                "bandwidth-efficiency", decimal("%.4f", gemm.bandwidth()),
                                "overhead", decimal("%.3f", gemm.overheadMicros()) + "us"))
                .with("source", "matrix products by calibrate " + file)
                .with("status", "fitted")
                .with(
                        "assumed",
                        base.texts("assumed").stream()
                                .filter(part -> !part.equals("gemm"))
                                .toList());
    }

    private static String table(List<Errors> errors) {
        List<ColumnData<Errors>> columns = List.of(
                Tables.numbers("tokens", Errors::tokens),
                Tables.counts("layers", Errors::numRows),
                Tables.decimals("mean error, its model left out", "%.1f %%", Errors::leftOut),
                Tables.decimals("data sheet's roofline", "%.1f %%", Errors::byDataSheet));
        return Tables.text(errors, columns);
    }

    private static String decimal(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}

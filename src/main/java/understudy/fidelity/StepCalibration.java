package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import understudy.latency.BatchShape;
import understudy.latency.ProfileFit;
import understudy.report.Tables;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.trace.CsvTable;

/** Fits a device in five numbers to measured steps. */
public final class StepCalibration {
    private static final List<String> COLUMNS =
            List.of("step_ms", "prefill_tokens", "prefill_context", "decodes", "decode_context");
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double MAX_STEP_MILLIS = 3_600_000;

    private StepCalibration() {}

    /** A measured step, and what the fitted device takes for it. */
    private record Row(ProfileFit.Measurement measured, double fittedNanos, double errorPercent) {}

    /** Reads the file and fits; {@code base} has the other figures, or defaults if there is no data sheet. */
    public static Calibration of(Path file, Section base, boolean hasDataSheet) {
        var measurements = read(file);
        if (measurements.isEmpty()) {
            throw new ScenarioException(file + ": no measurements");
        }
        var fit = StepFit.of(measurements);
        var rows = measurements.stream()
                .map(measured ->
                        new Row(measured, fit.device().stepNanos(measured.batch()), fit.errorPercent(measured)))
                .toList();
        double error = rows.stream()
                .mapToDouble(row -> Math.abs(row.errorPercent))
                .average()
                .orElse(0);
        String summary = String.format(Locale.ROOT, "%d steps, mean absolute error %.1f %%", rows.size(), error);
        return fit.calibration(table(rows) + "\n" + summary, file + ": " + summary, base, hasDataSheet);
    }

    private static List<ProfileFit.Measurement> read(Path file) {
        var measurements = new ArrayList<ProfileFit.Measurement>();
        try (var csv = new CsvTable(file)) {
            while (csv.next(COLUMNS)) {
                measurements.add(new ProfileFit.Measurement(batch(csv), stepMillis(csv) * NANOS_PER_MILLI));
            }
        }
        return measurements;
    }

    private static double stepMillis(CsvTable csv) {
        double millis = csv.positive("step_ms");
        if (millis > MAX_STEP_MILLIS) {
            throw csv.problem("step_ms is " + csv.text("step_ms") + ", must be at most an hour");
        }
        return millis;
    }

    private static BatchShape batch(CsvTable csv) {
        int prefillTokens = csv.wholeNumber("prefill_tokens", 0);
        int chunks = csv.text("prefill_chunks").isEmpty() ? 1 : csv.wholeNumber("prefill_chunks", 0);
        int prefillContext = csv.wholeNumber("prefill_context", 0);
        int decodes = csv.wholeNumber("decodes", 0);
        int decodeContext = csv.wholeNumber("decode_context", 0);
        if (prefillTokens == 1) {
            throw csv.problem("prefill_tokens is 1, which is a decode");
        }
        var batch = new BatchShape.Builder();
        for (int i = 0; i < chunks && prefillTokens > 0; i++) {
            batch.add(prefillTokens, prefillContext, true);
        }
        for (int i = 0; i < decodes; i++) {
            batch.add(1, decodeContext, true);
        }
        var shape = batch.build();
        if (shape.numTokens() == 0) {
            throw csv.problem("neither prefill_tokens nor decodes is above 0");
        }
        return shape;
    }

    private static String table(List<Row> rows) {
        List<ColumnData<Row>> columns = List.of(
                Tables.counts("prefill tokens", r -> r.measured.batch().numPrefillTokens()),
                Tables.counts("decodes", r -> r.measured.batch().numDecodes()),
                Tables.counts("KV tokens", r -> r.measured.batch().decodeKvTokens()),
                Tables.decimals("measured ms", "%.3f", r -> r.measured.nanos() / NANOS_PER_MILLI),
                Tables.decimals("fitted ms", "%.3f", r -> r.fittedNanos / NANOS_PER_MILLI),
                Tables.decimals("error", "%+.1f %%", Row::errorPercent));
        return Tables.text(rows, columns);
    }
}

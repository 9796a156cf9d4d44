package understudy.report;

import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.io.Writer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes a timeline: a line of numbers for each interval, empty where there is none; the same in text, CSV and JSON. */
public final class TimelineReport {
    private static final double NANOS_PER_MILLI = 1e6;

    /** Name of a column, its header for people, and its values. */
    private record Column(String name, String header, Function<Timeline.Interval, String> value) {

        /** Returns the number as it is in text, or null if there is none. */
        @Nullable BigDecimal number(Timeline.Interval interval) {
            String text = value.apply(interval);
            return text.isEmpty() ? null : new BigDecimal(text);
        }
    }

    private TimelineReport() {}

    private static List<Column> columns(Timeline timeline) {
        var columns = new ArrayList<>(List.of(
                new Column("start_s", "From (s)", i -> String.valueOf(i.startSeconds())),
                new Column("arrived", "Arrived", i -> String.valueOf(i.numArrived())),
                new Column("completed", "Completed", i -> String.valueOf(i.numCompleted())),
                new Column("failed", "Failed", i -> String.valueOf(i.numFailed()))));
        if (timeline.hasLevels()) {
            columns.add(new Column("good", "Good", i -> String.valueOf(i.numGood())));
        }
        columns.addAll(List.of(
                new Column("output_throughput", "Tokens/s", i -> decimal(i.outputThroughput())),
                new Column(
                        "median_ttft_ms", "P50 TTFT (ms)", i -> ttft(i, i.ttft().p50Nanos())),
                new Column("p99_ttft_ms", "P99 TTFT (ms)", i -> ttft(i, i.ttft().p99Nanos())),
                new Column("ready_replicas", "Ready", i -> String.valueOf(i.numReady()))));
        columns.addAll(ownColumns(timeline));
        return columns;
    }

    /** Columns of families of engines, each of which has a figure in some interval; empty where it has none. */
    private static Collection<Column> ownColumns(Timeline timeline) {
        var columns = new LinkedHashMap<String, Column>();
        for (var interval : timeline.intervals()) {
            for (var own : interval.own()) {
                for (var figure : own.figures()) {
                    String name = own.family() + "_" + figure.key();
                    columns.computeIfAbsent(
                            name, key -> new Column(key, figure.title(), i -> own(i, own.family(), figure.key())));
                }
            }
        }
        return columns.values();
    }

    private static String own(Timeline.Interval interval, String family, String key) {
        return interval.own().stream()
                .filter(own -> own.family().equals(family))
                .flatMap(own -> own.figures().stream())
                .filter(figure -> figure.key().equals(key))
                .findFirst()
                .map(figure -> figure.isWhole()
                        ? String.valueOf((long) figure.value())
                        : String.format(Locale.ROOT, "%.4f", figure.value()))
                .orElse("");
    }

    /** Returns a table, with a line break at its end. */
    public static String text(Timeline timeline) {
        var columns = columns(timeline).stream()
                .map(column -> Tables.numbers(column.header, column.value))
                .toList();
        return Tables.text(timeline.intervals(), columns) + "\n";
    }

    /** Writes header and lines; the caller closes {@code out}. */
    public static void writeCsv(Timeline timeline, Writer out) throws IOException {
        var columns = columns(timeline);
        var csv = CsvWriter.builder().build(out);
        csv.writeRecord(columns.stream().map(Column::name).toList());
        for (var interval : timeline.intervals()) {
            csv.writeRecord(
                    columns.stream().map(column -> column.value.apply(interval)).toList());
        }
        csv.flush();
    }

    /** Returns the figures of each interval. */
    static List<Figures> figures(Timeline timeline) {
        var columns = columns(timeline);
        return timeline.intervals().stream()
                .map(interval -> {
                    var figures = new Figures();
                    columns.forEach(column -> figures.add(column.name, column.number(interval)));
                    return figures;
                })
                .toList();
    }

    private static String ttft(Timeline.Interval interval, double nanos) {
        return interval.ttft().count() == 0 ? "" : decimal(nanos / NANOS_PER_MILLI);
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}

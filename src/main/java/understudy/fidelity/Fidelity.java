package understudy.fidelity;

import com.github.freva.asciitable.AsciiTable;
import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import understudy.report.LatencyStats;
import understudy.report.Tables;

/** Measured figures of a real server against those of a run of the same requests. */
public final class Fidelity {
    private static final double NANOS_PER_MILLI = 1e6;

    private final List<Figure> figures = new ArrayList<>();

    /**
     * One figure, from both.
     *
     * @param name what it is, with its unit
     */
    public record Figure(String name, double measured, double emulated) {

        /** Returns by how many percent the emulated figure is off; above 0 if it is too large. */
        public double errorPercent() {
            return (emulated / measured - 1) * 100;
        }
    }

    /** Adds mean, median and 99th percentile of a time, in milliseconds. */
    public void add(String name, LatencyStats measured, LatencyStats emulated) {
        add("Mean " + name + " (ms)", measured.meanNanos() / NANOS_PER_MILLI, emulated.meanNanos() / NANOS_PER_MILLI);
        add("Median " + name + " (ms)", measured.p50Nanos() / NANOS_PER_MILLI, emulated.p50Nanos() / NANOS_PER_MILLI);
        add("P99 " + name + " (ms)", measured.p99Nanos() / NANOS_PER_MILLI, emulated.p99Nanos() / NANOS_PER_MILLI);
    }

    /** Adds a figure. */
    public void add(String name, double measured, double emulated) {
        figures.add(new Figure(name, measured, emulated));
    }

    /** Returns all figures, in the order in which they were added. */
    public List<Figure> figures() {
        return List.copyOf(figures);
    }

    /** Returns a table with a line per figure. */
    public String table() {
        return AsciiTable.builder()
                        .border(AsciiTable.BASIC_ASCII_NO_DATA_SEPARATORS)
                        .data(
                                figures,
                                List.of(
                                        new Column()
                                                .header("")
                                                .dataAlign(HorizontalAlign.LEFT)
                                                .with(Figure::name),
                                        Tables.number("Measured").with(f -> decimal(f.measured())),
                                        Tables.number("Emulated").with(f -> decimal(f.emulated())),
                                        Tables.number("Error").with(f -> signedPercent(f.errorPercent()))))
                        .asString()
                + "\n";
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    private static String signedPercent(double value) {
        return String.format(Locale.ROOT, "%+.1f %%", value);
    }
}

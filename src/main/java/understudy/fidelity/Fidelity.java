package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.List;
import understudy.report.Tables;
import understudy.report.latency.LatencyStats;

/** Measured figures of a real server against those of a run of the same requests. */
public final class Fidelity {
    private static final double NANOS_PER_MILLI = 1e6;

    private final List<Figure> figures = new ArrayList<>();

    /**
     * One figure, from both.
     *
     * @param name name of the quantity, with its unit
     */
    public record Figure(String name, double measured, double emulated) {

        /** Returns by how many percent the emulated figure is off; above 0 if it is too large. */
        public double errorPercent() {
            return measured == emulated ? 0 : (emulated / measured - 1) * 100;
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

    /** Returns a table with a line per figure. */
    public String table() {
        List<ColumnData<Figure>> columns = List.of(
                Tables.words("", Figure::name),
                Tables.decimals("Measured", "%.2f", Figure::measured),
                Tables.decimals("Emulated", "%.2f", Figure::emulated),
                Tables.decimals("Error", "%+.1f %%", Figure::errorPercent));
        return Tables.text(figures, columns) + "\n";
    }
}

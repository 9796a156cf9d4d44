package understudy.sweep;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Rows that no other one beats both in tokens per second and user and in tokens per second and GPU. */
public final class ParetoFront {
    static final String PER_USER = "output_throughput_per_user";
    static final String PER_GPU = "output_throughput_per_gpu";

    private ParetoFront() {}

    /** Returns the rows of the front, the fastest for a user first; none of a run that was given up. */
    public static List<SweepRow> of(List<SweepRow> rows) {
        var sorted = rows.stream()
                .filter(row ->
                        row.figure(PER_USER).isPresent() && row.figure(PER_GPU).isPresent())
                .sorted(Comparator.comparingDouble((SweepRow row) -> value(row, PER_USER))
                        .thenComparingDouble(row -> value(row, PER_GPU))
                        .reversed())
                .toList();
        var front = new ArrayList<SweepRow>();
        double best = Double.NEGATIVE_INFINITY;
        for (var row : sorted) {
            if (value(row, PER_GPU) > best) {
                best = value(row, PER_GPU);
                front.add(row);
            }
        }
        return front;
    }

    private static double value(SweepRow row, String key) {
        return row.figure(key).orElseThrow().mean();
    }
}

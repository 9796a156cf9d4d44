package understudy.latency.tables;

import java.util.Arrays;
import java.util.SortedMap;

/**
 * Measured times by batch and length: bilinear, as at the edge below the first, and on the slope of the last segment
 * beyond the last. Lengths that a batch was not measured with are filled in by the same rule.
 */
final class Grid {
    private final double[] batches;
    private final double[] lengths;
    /** Row by row: all lengths of the first batch, and so on. */
    private final double[] micros;

    /** Takes a curve over lengths for each of at least two batches. */
    Grid(SortedMap<Double, Curve> byBatch) {
        batches = byBatch.keySet().stream().mapToDouble(Double::doubleValue).toArray();
        lengths = byBatch.values().stream()
                .flatMapToDouble(curve -> Arrays.stream(curve.xs()))
                .distinct()
                .sorted()
                .toArray();
        micros = byBatch.values().stream()
                .flatMapToDouble(curve -> Arrays.stream(lengths).map(curve::onLastSlope))
                .toArray();
    }

    int maxLength() {
        return (int) lengths[lengths.length - 1];
    }

    double micros(double batch, double length) {
        double b = Math.max(batch, batches[0]);
        double l = Math.max(length, lengths[0]);
        int row = Axis.segment(batches, b);
        int column = Axis.segment(lengths, l);
        double share = Axis.share(lengths, column, l);
        double low = along(row, column, share);
        return Math.max(0, low + (along(row + 1, column, share) - low) * Axis.share(batches, row, b));
    }

    private double along(int row, int column, double share) {
        int index = row * lengths.length + column;
        return micros[index] + (micros[index + 1] - micros[index]) * share;
    }
}

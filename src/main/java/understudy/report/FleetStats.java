package understudy.report;

import java.util.List;

/**
 * Figures of the replicas of a run, all together, and their cost.
 *
 * @param replicaHours virtual time of all replicas from their start, loading included, to their end; without the time
 *     in which they were down
 * @param gpuHours the same times the GPUs of a replica
 * @param gpuHourPrice price of one GPU for an hour, or 0 if it is not known
 * @param history how many there were from when on, beginning at 0
 */
public record FleetStats(double replicaHours, double gpuHours, double gpuHourPrice, List<Point> history) {

    /** A time from which on so many replicas took requests, and so many were starting. */
    public record Point(long atNanos, int numReady, int numStarting) {}

    public double cost() {
        return gpuHours * gpuHourPrice;
    }

    /** Returns the cost of a million answer tokens, if the run had no others; 0 without any. */
    public double costPerMillionTokens(long numOutputTokens) {
        return numOutputTokens == 0 ? 0 : cost() / numOutputTokens * 1e6;
    }

    /** Returns the most replicas at a time, those included that start. */
    public int maxReplicas() {
        return history.stream()
                .mapToInt(point -> point.numReady + point.numStarting)
                .max()
                .orElse(0);
    }
}

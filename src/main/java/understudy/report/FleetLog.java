package understudy.report;

import java.util.ArrayList;
import java.util.List;

/** Counts replicas over time, while the run goes on. */
public final class FleetLog {
    private static final double NANOS_PER_HOUR = 3600e9;

    private final List<FleetStats.Point> history = new ArrayList<>();
    private int numRunning;
    private long sinceNanos;
    private double replicaNanos;

    /**
     * Records how many replicas there are from now on.
     *
     * @param numRunning those with a process, which may be neither ready nor starting; they count for the cost
     */
    public void add(FleetStats.Point now, int numRunning) {
        replicaNanos = replicaNanos(now.atNanos());
        sinceNanos = now.atNanos();
        this.numRunning = numRunning;
        if (!history.isEmpty() && last().atNanos() == now.atNanos()) {
            history.remove(history.size() - 1);
        }
        if (history.isEmpty() || !isSame(last(), now)) {
            history.add(now);
        }
    }

    /** Returns how many there were from when on. */
    public List<FleetStats.Point> history() {
        return List.copyOf(history);
    }

    /** Returns the figures until now, for replicas of so many GPUs. */
    public FleetStats stats(long nowNanos, int gpusPerReplica, double gpuHourPrice) {
        double hours = replicaNanos(nowNanos) / NANOS_PER_HOUR;
        return new FleetStats(hours, hours * gpusPerReplica, gpuHourPrice, history());
    }

    private double replicaNanos(long nowNanos) {
        return replicaNanos + (double) (nowNanos - sinceNanos) * numRunning;
    }

    private FleetStats.Point last() {
        return history.get(history.size() - 1);
    }

    private static boolean isSame(FleetStats.Point a, FleetStats.Point b) {
        return a.numReady() == b.numReady() && a.numStarting() == b.numStarting();
    }
}

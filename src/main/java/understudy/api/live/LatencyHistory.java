package understudy.api.live;

import java.util.ArrayDeque;
import java.util.List;

/**
 * Latency percentiles over time: a point per sampling interval, over the last ten of them. Keeps the latest points
 * only.
 */
final class LatencyHistory {
    private static final int NUM_INTERVALS = 10;
    private static final int MAX_POINTS = 300;

    /** Percentiles of an interval, as the page gets them. */
    record Point(
            long number,
            double virtualSeconds,
            LatencyWindow.Percentiles ttft,
            LatencyWindow.Percentiles itl,
            LatencyWindow.Percentiles e2e) {}

    private final LatencyWindow ttft = new LatencyWindow(NUM_INTERVALS);
    private final LatencyWindow interToken = new LatencyWindow(NUM_INTERVALS);
    private final LatencyWindow endToEnd = new LatencyWindow(NUM_INTERVALS);
    private final ArrayDeque<Point> points = new ArrayDeque<>();
    private long numPoints;
    private long sampledNanos;

    void addTtft(long nanos) {
        ttft.add(nanos, 1);
    }

    void addGap(long nanos, int count) {
        interToken.add(nanos, count);
    }

    void addEndToEnd(long nanos) {
        endToEnd.add(nanos, 1);
    }

    /** Ends an interval; one in which no time has passed goes on. */
    void sample(long nowNanos) {
        if (numPoints > 0 && nowNanos == sampledNanos) {
            return;
        }
        sampledNanos = nowNanos;
        if (points.size() == MAX_POINTS) {
            points.remove();
        }
        points.add(new Point(
                numPoints++, nowNanos / 1e9, ttft.percentiles(), interToken.percentiles(), endToEnd.percentiles()));
        ttft.next();
        interToken.next();
        endToEnd.next();
    }

    /** Returns the latest points, oldest first; which ones they are is said by their numbers. */
    List<Point> latest(int count) {
        return points.stream().skip(Math.max(0, points.size() - count)).toList();
    }

    List<Point> all() {
        return latest(MAX_POINTS);
    }
}

package understudy.api.live;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayDeque;
import understudy.api.http.Json;

/** Latency percentiles over time: a point per sampling interval, over the last ten of them. Keeps the latest points only. */
final class LatencyHistory {
    private static final int NUM_INTERVALS = 10;
    private static final int MAX_POINTS = 300;

    private final LatencyWindow ttft = new LatencyWindow(NUM_INTERVALS);
    private final LatencyWindow interToken = new LatencyWindow(NUM_INTERVALS);
    private final LatencyWindow endToEnd = new LatencyWindow(NUM_INTERVALS);
    private final ArrayDeque<ObjectNode> points = new ArrayDeque<>();
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
        var point = Json.object().put("number", numPoints++).put("virtualSeconds", nowNanos / 1e9);
        point.set("ttft", ttft.toJson());
        point.set("itl", interToken.toJson());
        point.set("e2e", endToEnd.toJson());
        points.add(point);
        ttft.next();
        interToken.next();
        endToEnd.next();
    }

    /** Returns the latest points, oldest first; which ones they are is said by their numbers. */
    ArrayNode latest(int count) {
        var array = Json.array();
        points.stream().skip(Math.max(0, points.size() - count)).forEach(array::add);
        return array;
    }

    /** Returns all points that are kept. */
    ArrayNode all() {
        return latest(MAX_POINTS);
    }
}

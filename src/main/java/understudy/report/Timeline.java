package understudy.report;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.figure.OwnFigures;
import understudy.report.latency.LatencyStats;

/**
 * Timeline of a run: figures of each interval. Intervals are equally long, but for the last one, which ends with the
 * run.
 *
 * @param hasLevels whether there are service levels, so that good requests are counted
 */
public record Timeline(boolean hasLevels, List<Interval> intervals) {
    /** No timeline. */
    public static final Timeline OFF = new Timeline(false, List.of());

    private static final int MAX_INTERVALS = 100_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /**
     * An interval.
     *
     * @param startSeconds virtual time
     * @param numGood of the requests completed in it, those that have kept to their service levels
     * @param ttft of the requests that got their first token in it, even if they failed later
     * @param numReady fewest replicas at a time that took requests
     * @param own what only some families of engines have, over all steps that ended in it
     */
    public record Interval(
            long startSeconds,
            long numArrived,
            long numCompleted,
            long numFailed,
            long numGood,
            double outputThroughput,
            LatencyStats ttft,
            int numReady,
            List<OwnFigures> own) {}

    /** Returns the timeline of a run; 0 is none, and much too short intervals are made longer. */
    static Timeline of(RunRecord run, ServiceLevels levels, int intervalSeconds) {
        return of(run, levels, intervalSeconds, MAX_INTERVALS);
    }

    /**
     * Returns the timeline of a run.
     *
     * @param intervalSeconds the length of an interval, or 0 for no timeline
     * @param maxIntervals beyond which intervals are as many times as long as it takes
     */
    public static Timeline of(RunRecord run, ServiceLevels levels, int intervalSeconds, int maxIntervals) {
        if (intervalSeconds == 0) {
            return OFF;
        }
        long shortest = intervalSeconds * NANOS_PER_SECOND;
        long interval = shortest * Math.max(1, ceilDiv(ceilDiv(run.endNanos(), shortest), maxIntervals));
        var tallies = new Tally[(int) Math.max(1, ceilDiv(run.endNanos(), interval))];
        Arrays.setAll(tallies, i -> new Tally(i * interval, Math.min(run.endNanos(), (i + 1) * interval)));
        run.requests().stream().forEach(request -> count(request, levels, tallies));
        run.log().outputRate().forEach((nanos, count) -> at(nanos, tallies).numTokens += count);
        run.log().course().forEach((nanos, own) -> at(nanos, tallies).add(own));
        var intervals = Arrays.stream(tallies)
                .map(tally -> tally.end(fewestReady(run.replicaHistory(), tally)))
                .toList();
        return new Timeline(levels.areSet(), intervals);
    }

    /** Returns the fewest replicas at a time in an interval; 0 if nothing is known. */
    private static int fewestReady(List<FleetStats.Point> history, Tally tally) {
        int fewest = Integer.MAX_VALUE;
        for (int i = history.size() - 1; i >= 0; i--) {
            boolean lasts = i + 1 == history.size() || history.get(i + 1).atNanos() > tally.startNanos;
            if (lasts && history.get(i).atNanos() < tally.endNanos) {
                fewest = Math.min(fewest, history.get(i).numReady());
            }
        }
        return fewest == Integer.MAX_VALUE ? 0 : fewest;
    }

    /** Returns whether a timeline was asked for. */
    public boolean isOn() {
        return !intervals.isEmpty();
    }

    private static void count(RequestRecord request, ServiceLevels levels, Tally[] tallies) {
        at(request.arrivalNanos(), tallies).numArrived++;
        if (request.numOutputTokens() > 0) {
            at(request.firstTokenNanos(), tallies).ttftNanos.add((double) request.ttftNanos());
        }
        var last = at(request.endNanos(), tallies);
        if (request.outcome() == Outcome.COMPLETED) {
            last.numCompleted++;
            last.numGood += levels.areMet(request) ? 1 : 0;
        } else if (request.outcome() == Outcome.FAILED) {
            last.numFailed++;
        }
    }

    /** Returns the interval of a time; what happens at the very end belongs to the last one. */
    private static Tally at(long nanos, Tally[] tallies) {
        long interval = tallies.length == 1 ? Long.MAX_VALUE : tallies[1].startNanos;
        return tallies[(int) Math.min(nanos / interval, tallies.length - 1)];
    }

    private static long ceilDiv(long value, long divisor) {
        return (value + divisor - 1) / divisor;
    }

    /** Count of one interval that goes on. */
    private static final class Tally {
        private final long startNanos;
        private final long endNanos;
        private long numArrived;
        private long numCompleted;
        private long numFailed;
        private long numGood;
        private long numTokens;
        private final DoubleArrayList ttftNanos = new DoubleArrayList();
        private final Map<String, OwnFigures> own = new LinkedHashMap<>();

        Tally(long startNanos, long endNanos) {
            this.startNanos = startNanos;
            this.endNanos = endNanos;
        }

        void add(OwnFigures figures) {
            own.merge(figures.family(), figures, OwnFigures::plus);
        }

        Interval end(int numReady) {
            double seconds = (double) (endNanos - startNanos) / NANOS_PER_SECOND;
            return new Interval(
                    startNanos / NANOS_PER_SECOND,
                    numArrived,
                    numCompleted,
                    numFailed,
                    numGood,
                    seconds == 0 ? 0 : (double) numTokens / seconds,
                    LatencyStats.of(ttftNanos.toDoubleArray()),
                    numReady,
                    List.copyOf(own.values()));
        }
    }
}

package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import understudy.fidelity.ResultFile.RequestTimes;
import understudy.report.Tables;
import understudy.report.latency.LatencyStats;

/**
 * Differences between the requests of two results that have the same number.
 *
 * @param numPairs requests that both have completed
 * @param numDifferentLengths pairs whose prompts or answers are not equally long
 * @param differences by metric; empty if there are no pairs
 */
record RequestDifferences(long numPairs, long numDifferentLengths, List<Difference> differences) {

    /**
     * Differences in one metric, over all pairs that have it. Milliseconds.
     *
     * @param meanAbsoluteMs mean of the differences without their signs
     */
    record Difference(
            String metric,
            long pairs,
            double realMeanMs,
            double emulatedMeanMs,
            double meanAbsoluteMs,
            double p99AbsoluteMs) {}

    private record Pair(RequestTimes real, RequestTimes emulated) {

        boolean hasDifferentLengths() {
            return real.inputTokens() != emulated.inputTokens() || real.outputTokens() != emulated.outputTokens();
        }
    }

    static RequestDifferences of(Long2ObjectMap<RequestTimes> real, Long2ObjectMap<RequestTimes> emulated) {
        var pairs = new ArrayList<Pair>();
        for (var entry : real.long2ObjectEntrySet()) {
            var other = emulated.get(entry.getLongKey());
            if (other != null) {
                pairs.add(new Pair(entry.getValue(), other));
            }
        }
        var differences = pairs.isEmpty()
                ? List.<Difference>of()
                : List.of(
                        difference("ttft", pairs, RequestTimes::ttftMillis),
                        difference("tpot", pairs, RequestTimes::tpotMillis),
                        difference("e2el", pairs, RequestTimes::e2elMillis));
        return new RequestDifferences(
                pairs.size(), pairs.stream().filter(Pair::hasDifferentLengths).count(), differences);
    }

    private static Difference difference(String metric, List<Pair> pairs, ToDoubleFunction<RequestTimes> millis) {
        var both = pairs.stream()
                .map(pair -> new double[] {millis.applyAsDouble(pair.real), millis.applyAsDouble(pair.emulated)})
                .filter(pair -> !Double.isNaN(pair[0]) && !Double.isNaN(pair[1]))
                .toList();
        double[] absolute =
                both.stream().mapToDouble(pair -> Math.abs(pair[1] - pair[0])).toArray();
        return new Difference(
                metric,
                both.size(),
                both.stream().mapToDouble(pair -> pair[0]).average().orElse(0),
                both.stream().mapToDouble(pair -> pair[1]).average().orElse(0),
                LatencyStats.of(absolute).meanNanos(),
                LatencyStats.percentile(absolute, 99));
    }

    /** Returns a table with a line per metric, or nothing if there are no pairs. */
    String text() {
        if (differences.isEmpty()) {
            return "";
        }
        List<ColumnData<Difference>> columns = List.of(
                Tables.words("by request", Difference::metric),
                Tables.counts("pairs", Difference::pairs),
                Tables.decimals("real mean ms", "%.2f", Difference::realMeanMs),
                Tables.decimals("emulated mean ms", "%.2f", Difference::emulatedMeanMs),
                Tables.decimals("mean difference ms", "%.2f", Difference::meanAbsoluteMs),
                Tables.decimals("p99 difference ms", "%.2f", Difference::p99AbsoluteMs));
        String lengths = numDifferentLengths == 0
                ? ""
                : numDifferentLengths + " of " + numPairs + " pairs differ in the length of prompt or answer\n";
        return Tables.text(differences, columns) + "\n" + lengths;
    }
}

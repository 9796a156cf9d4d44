package understudy.sweep;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;
import org.hipparchus.distribution.continuous.TDistribution;

/**
 * Result of one combination.
 *
 * @param point the combination; with the value that was found if there was a search
 * @param runs one for each seed
 * @param tried values that the search has tried, in that order; none if there was no search
 * @param border outcome of the search; empty if there was none
 */
public record SweepRow(SweepPoint point, List<PointResult> runs, List<Trial> tried, Optional<Border> border) {
    private static final double CONFIDENCE = 0.95;

    /** Value of a search, and whether the service level was kept with every seed. */
    public record Trial(String value, boolean isGood) {}

    /** Outcome of a search for a border. */
    public enum Border {
        /** The value beyond the one found does not keep the level. */
        FOUND,
        /** The whole range keeps the level: the border lies beyond. */
        BEYOND,
        /** Nothing in the range keeps the level. */
        NOWHERE
    }

    /**
     * Figure over all seeds.
     *
     * @param halfWidth of the interval that has the mean of all seeds with 95 % confidence, by Student's distribution;
     *     NaN of a single run
     */
    public record Figure(double mean, double halfWidth) {}

    /** Returns whether the service level is kept with every seed; empty if there is none. */
    public Optional<Boolean> meetsSlo() {
        return runs.stream()
                .map(PointResult::meetsSlo)
                .reduce(Optional.of(true), (a, b) -> a.flatMap(all -> b.map(one -> all && one)));
    }

    /**
     * Returns a figure of the reports; empty if one of them has it not.
     *
     * @param key names from the outside in, with dots between
     */
    public Optional<Figure> figure(String key) {
        double[] values = runs.stream()
                .map(run -> run.figures().at("/" + key.replace('.', '/')))
                .filter(JsonNode::isNumber)
                .mapToDouble(JsonNode::asDouble)
                .toArray();
        return values.length == 0 || values.length < runs.size() ? Optional.empty() : Optional.of(figure(values));
    }

    private static Figure figure(double[] values) {
        int count = values.length;
        double mean = 0;
        for (double value : values) {
            mean += value / count;
        }
        if (count == 1) {
            return new Figure(mean, Double.NaN);
        }
        double squares = 0;
        for (double value : values) {
            squares += (value - mean) * (value - mean);
        }
        double error = Math.sqrt(squares / (count - 1) / count);
        return new Figure(
                mean, error * new TDistribution(count - 1).inverseCumulativeProbability((1 + CONFIDENCE) / 2));
    }
}

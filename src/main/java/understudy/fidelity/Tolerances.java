package understudy.fidelity;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Pattern;
import understudy.settings.Numbers;
import understudy.settings.ScenarioException;

/**
 * Largest differences that a comparison accepts, in percent of the measured figure.
 *
 * @param byMetric of single metrics, which win
 * @param all of all others, if there is one
 */
public record Tolerances(Map<String, Double> byMetric, OptionalDouble all) {
    private static final Pattern WRITTEN = Pattern.compile("(?:([a-z0-9_.]+)=)?([0-9.]+)%");

    /**
     * Reads entries such as {@code mean_ttft_ms=10%}, or {@code 10%} for all metrics.
     *
     * @throws ScenarioException if one is neither
     */
    public static Tolerances of(List<String> entries) {
        var byMetric = new LinkedHashMap<String, Double>();
        var all = OptionalDouble.empty();
        for (String entry : entries) {
            var matcher = WRITTEN.matcher(entry);
            double percent = matcher.matches() ? Numbers.parse(matcher.group(2)) : Double.NaN;
            if (Double.isNaN(percent)) {
                throw new ScenarioException("--tolerance " + entry
                        + ": must be a share of the measured figure, such as mean_ttft_ms=10%, or 10% for all metrics");
            }
            if (matcher.group(1) == null) {
                all = OptionalDouble.of(percent);
            } else {
                byMetric.put(matcher.group(1), percent);
            }
        }
        return new Tolerances(byMetric, all);
    }

    boolean areSet() {
        return all.isPresent() || !byMetric.isEmpty();
    }

    OptionalDouble percentOf(String metric) {
        var own = byMetric.get(metric);
        return own == null ? all : OptionalDouble.of(own);
    }

    /** Refuses a tolerance that would never be looked at. */
    void requireKnown(Set<String> metrics) {
        for (String metric : byMetric.keySet()) {
            if (!metrics.contains(metric)) {
                throw new ScenarioException("--tolerance " + metric + ": not a metric of both files; those are "
                        + String.join(", ", metrics));
            }
        }
    }
}

package understudy.chaos.autoscaler.reference;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.Pattern;

/**
 * Gauges of the load on a page of metrics in the form of Prometheus' federation: those that are numbers, and new enough.
 */
final class LoadPage {
    private static final Pattern SERIES = Pattern.compile("(\\S+)\\{(.*)} (\\S+) (\\d+)");
    private static final Pattern INSTANCE = Pattern.compile("\\binstance=\"([^\"]*)\"");

    private final Map<String, Double> figures = new HashMap<>();

    /**
     * Reads a page.
     *
     * @param oldestEpochMillis series whose time stamp is older are left out
     */
    LoadPage(String text, long oldestEpochMillis) {
        text.lines().forEach(line -> {
            var series = SERIES.matcher(line);
            if (!line.startsWith("#") && series.matches() && Long.parseLong(series.group(4)) >= oldestEpochMillis) {
                var instance = INSTANCE.matcher(series.group(2));
                if (instance.find()) {
                    add(series.group(1) + " " + instance.group(1), series.group(3));
                }
            }
        });
    }

    private void add(String series, String figure) {
        try {
            double value = Double.parseDouble(figure);
            if (Double.isFinite(value)) {
                figures.merge(series, value, Double::sum);
            }
        } catch (NumberFormatException e) {
            // A figure that is no number is none.
        }
    }

    /** Returns the sum of the series of this name and instance; empty if there is none. */
    OptionalDouble figure(String name, String instance) {
        var figure = figures.get(name + " " + instance);
        return figure == null ? OptionalDouble.empty() : OptionalDouble.of(figure);
    }
}

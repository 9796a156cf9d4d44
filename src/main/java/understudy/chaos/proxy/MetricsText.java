package understudy.chaos.proxy;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A text of {@code /metrics} with figures that are wrong. */
final class MetricsText {
    private static final Pattern COUNTER = Pattern.compile("_(total|count|sum|bucket)$");

    private MetricsText() {}

    /** Returns the text without the series of these names. */
    static String without(String text, Set<String> names) {
        return text.lines()
                .filter(line -> line.startsWith("#") || !names.contains(name(line)))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    /** Returns the text with other figures for the series of these names. */
    static String with(String text, Map<String, String> figures) {
        return text.lines()
                .map(line -> {
                    String figure = line.startsWith("#") ? null : figures.get(name(line));
                    return figure == null ? line : series(line) + " " + figure;
                })
                .collect(Collectors.joining("\n", "", "\n"));
    }

    /** Returns the text with counters that have begun again when they were as in {@code begin}. */
    static String restarted(String text, String begin) {
        var before = new HashMap<String, Double>();
        begin.lines()
                .filter(line -> isCounter(line))
                .forEach(line -> before.put(series(line), Double.parseDouble(figure(line))));
        return text.lines()
                .map(line -> isCounter(line)
                        ? series(line) + " "
                                + Math.max(0, Double.parseDouble(figure(line)) - before.getOrDefault(series(line), 0.0))
                        : line)
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static boolean isCounter(String line) {
        return !line.isBlank()
                && !line.startsWith("#")
                && COUNTER.matcher(name(line)).find();
    }

    private static String name(String line) {
        int end = line.indexOf('{');
        return end < 0 ? series(line) : line.substring(0, end);
    }

    private static String series(String line) {
        int space = line.lastIndexOf(' ');
        return space < 0 ? line : line.substring(0, space);
    }

    private static String figure(String line) {
        return line.substring(line.lastIndexOf(' ') + 1);
    }
}

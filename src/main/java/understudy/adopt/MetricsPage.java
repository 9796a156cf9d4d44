package understudy.adopt;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import understudy.settings.ScenarioException;

/**
 * Samples of a page in Prometheus' text format.
 *
 * @param name of the file or address it comes from
 * @param samples in the order of the page
 */
public record MetricsPage(String name, List<Sample> samples) {
    private static final Pattern SAMPLE = Pattern.compile(
            "(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(?<labels>.*)\\})?\\s+(?<value>[-+.0-9a-zA-Z]+)(?:\\s+.*)?");
    private static final Pattern LABEL = Pattern.compile("\\s*([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\.)*)\",?");
    private static final int NUM_NAMES_TOLD = 3;

    /**
     * One value.
     *
     * @param name of the series, with the suffix of its kind
     * @param labels by name
     * @param value of the sample
     */
    public record Sample(String name, Map<String, String> labels, double value) {
        String label(String label) {
            return labels.getOrDefault(label, "");
        }
    }

    /** Returns whether a text has the form of such a page. */
    static boolean isOne(String text) {
        return text.lines()
                .filter(line -> !line.isBlank() && !line.startsWith("# "))
                .findFirst()
                .filter(line -> SAMPLE.matcher(line).matches() && isNumber(valueOf(line)))
                .isPresent();
    }

    /**
     * Reads a page.
     *
     * @throws ScenarioException if a line of it is no sample
     */
    public static MetricsPage read(String name, String text) {
        var samples = new ArrayList<Sample>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            var match = SAMPLE.matcher(line);
            if (!match.matches() || !isNumber(match.group("value"))) {
                throw new ScenarioException(name + ":" + number + ": not a sample of a metrics page: "
                        + line.substring(0, Math.min(line.length(), 60)));
            }
            String labels = match.group("labels");
            samples.add(new Sample(
                    match.group("name"), labels == null ? Map.of() : labels(labels), number(match.group("value"))));
        }
        return new MetricsPage(name, List.copyOf(samples));
    }

    private static String valueOf(String line) {
        var match = SAMPLE.matcher(line);
        return match.matches() ? match.group("value") : "";
    }

    private static boolean isNumber(String text) {
        return text.matches("[-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|Inf|NaN)");
    }

    private static double number(String text) {
        return switch (text) {
            case "+Inf", "Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            case "NaN" -> Double.NaN;
            default -> Double.parseDouble(text);
        };
    }

    private static Map<String, String> labels(String text) {
        var labels = new LinkedHashMap<String, String>();
        var label = LABEL.matcher(text);
        while (label.lookingAt()) {
            labels.put(label.group(1), label.group(2).replaceAll("\\\\(.)", "$1"));
            label.region(label.end(), text.length());
        }
        return labels;
    }

    /** Returns the engine whose names the series have. */
    public EngineName engine() {
        if (has("vllm:")) {
            return EngineName.VLLM;
        }
        if (has("sglang:")) {
            return EngineName.SGLANG;
        }
        var names = new TreeSet<String>();
        samples.forEach(sample -> names.add(sample.name()));
        String some = String.join(", ", names.stream().limit(NUM_NAMES_TOLD).toList());
        throw new ScenarioException(
                name + ": a metrics page, but neither vLLM's nor SGLang's: no series begins with vllm:" + " or sglang:"
                        + (some.isEmpty() ? ", there are none" : ", as there are " + some));
    }

    boolean hasEngine() {
        return has("vllm:") || has("sglang:");
    }

    private boolean has(String prefix) {
        return samples.stream().anyMatch(sample -> sample.name().startsWith(prefix));
    }

    /** Returns the samples of a name. */
    public Stream<Sample> all(String series) {
        return samples.stream().filter(sample -> sample.name().equals(series));
    }
}

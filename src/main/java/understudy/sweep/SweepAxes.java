package understudy.sweep;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Settings that differ between the rows of a sweep, as axes of pictures.
 *
 * @param values different values of each, in order of appearance
 */
record SweepAxes(Map<String, List<String>> values, int numScenarios) {

    static SweepAxes of(List<SweepRow> rows) {
        var values = new LinkedHashMap<String, List<String>>();
        for (var row : rows) {
            row.point().settings().forEach((key, value) -> {
                var known = values.computeIfAbsent(key, any -> new ArrayList<>());
                if (!known.contains(value)) {
                    known.add(value);
                }
            });
        }
        int numScenarios = (int)
                rows.stream().map(row -> row.point().scenario()).distinct().count();
        return new SweepAxes(values, numScenarios);
    }

    private List<String> keys() {
        return List.copyOf(values.keySet());
    }

    /** Returns whether two settings vary, and nothing else does, with three values or more each. */
    boolean areTwo() {
        return numScenarios == 1
                && values.size() == 2
                && values.values().stream().allMatch(all -> all.size() > 2);
    }

    String key(int index) {
        return keys().get(index);
    }

    List<String> values(int index) {
        return valuesOf(key(index));
    }

    private List<String> valuesOf(String key) {
        return values.getOrDefault(key, List.of());
    }

    /** Returns the row with these values of both settings. */
    Optional<SweepRow> row(List<SweepRow> rows, String first, String second) {
        return rows.stream()
                .filter(row -> first.equals(row.point().settings().get(key(0)))
                        && second.equals(row.point().settings().get(key(1))))
                .findFirst();
    }

    /** Returns the last setting, which is the one of a search if there is one. */
    String last() {
        return key(values.size() - 1);
    }

    double lastNumber(SweepRow row) {
        return number(row, last());
    }

    static double number(SweepRow row, String key) {
        return Double.parseDouble(row.point().settings().getOrDefault(key, "NaN"));
    }

    /** Returns the setting that has the most values, all of them numbers. */
    Optional<String> longestOfNumbers() {
        return values.keySet().stream()
                .filter(key -> valuesOf(key).stream().allMatch(SweepAxes::isNumber))
                .max(Comparator.comparingInt(key -> valuesOf(key).size()));
    }

    private static boolean isNumber(String text) {
        return text.matches("-?[0-9]+(\\.[0-9]+)?");
    }

    double[] numbers(String key) {
        var sorted = valuesOf(key).stream().map(Double::parseDouble).collect(Collectors.toCollection(TreeSet::new));
        return sorted.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** Returns the settings that set a row apart, as text. */
    String name(SweepRow row) {
        return nameWithout(row, "");
    }

    /** Returns the settings that set a row apart, as text, without one of them. */
    String nameWithout(SweepRow row, String key) {
        var parts = new ArrayList<String>();
        if (numScenarios > 1) {
            parts.add(row.point().scenario());
        }
        row.point().settings().forEach((other, value) -> {
            if (!other.equals(key) && valuesOf(other).size() > 1) {
                parts.add(shortName(other) + "=" + value);
            }
        });
        return parts.isEmpty() ? "all" : String.join(" ", parts);
    }

    /** Returns the end of a key that no other setting has. */
    private String shortName(String key) {
        for (int dot = key.lastIndexOf('.'); dot > 0; dot = key.lastIndexOf('.', dot - 1)) {
            if (isOnlyOne(key.substring(dot + 1))) {
                return key.substring(dot + 1);
            }
        }
        return key;
    }

    private boolean isOnlyOne(String name) {
        return values.keySet().stream()
                        .filter(key -> ("." + key).endsWith("." + name))
                        .count()
                == 1;
    }

    String nameWithoutLast(SweepRow row) {
        return nameWithout(row, last());
    }
}

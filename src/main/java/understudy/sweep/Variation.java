package understudy.sweep;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import understudy.settings.ScenarioException;

/**
 * Settings that vary together, and their values.
 *
 * @param keys one or more
 * @param values in the order given; each has as many parts as there are keys
 */
public record Variation(List<String> keys, List<List<String>> values) {
    private static final int MAX_VALUES = 100_000;
    private static final String ALLOWED =
            ": must be KEY=A,B,C, KEY=FROM..TO, KEY=FROM..TO+STEP, KEY=FROM..TO*FACTOR" + " or KEY1,KEY2=A1/A2,B1/B2";
    private static final String NUMBER = "-?[0-9]+(?:\\.[0-9]+)?";
    private static final Pattern RANGE =
            Pattern.compile("(" + NUMBER + ")\\.\\.(" + NUMBER + ")(?:([+*])(" + NUMBER + "))?");

    /**
     * Reads what {@code --vary} takes.
     *
     * @throws ScenarioException if it is something else
     */
    public static Variation parse(String text) {
        int equals = text.indexOf('=');
        if (equals < 1 || equals == text.length() - 1) {
            throw new ScenarioException("--vary " + text + ALLOWED);
        }
        var keys = List.of(text.substring(0, equals).split(",", -1));
        var values = new ArrayList<List<String>>();
        for (String item : text.substring(equals + 1).split(",", -1)) {
            values.addAll(keys.size() == 1 ? single(text, item) : List.of(linked(text, item, keys.size())));
        }
        if (values.stream().distinct().count() < values.size()) {
            throw new ScenarioException("--vary " + text + ": a value is there twice");
        }
        return new Variation(keys, List.copyOf(values));
    }

    private static List<String> linked(String text, String item, int numKeys) {
        var parts = List.of(item.split("/", -1));
        if (parts.size() != numKeys) {
            throw new ScenarioException(
                    "--vary " + text + ": " + item + " has " + parts.size() + " values for " + numKeys + " keys");
        }
        return parts;
    }

    private static List<List<String>> single(String text, String item) {
        var range = RANGE.matcher(item);
        if (!range.matches()) {
            return List.of(List.of(item));
        }
        boolean isFactor = "*".equals(range.group(3));
        var step = range.group(4) == null ? BigDecimal.ONE : new BigDecimal(range.group(4));
        var first = new BigDecimal(range.group(1));
        var last = new BigDecimal(range.group(2));
        boolean grows = isFactor ? step.compareTo(BigDecimal.ONE) > 0 && first.signum() > 0 : step.signum() > 0;
        if (!grows || first.compareTo(last) > 0) {
            throw new ScenarioException("--vary " + text + ": " + item + " must grow from its beginning to its end");
        }
        var values = new ArrayList<List<String>>();
        for (var value = first; value.compareTo(last) <= 0; value = isFactor ? value.multiply(step) : value.add(step)) {
            if (values.size() == MAX_VALUES) {
                throw new ScenarioException("--vary " + text + ": more than " + MAX_VALUES + " values");
            }
            values.add(List.of(plain(value)));
        }
        return values;
    }

    /** Returns a number without an exponent and without zeros behind the last digit. */
    static String plain(BigDecimal value) {
        return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
    }
}

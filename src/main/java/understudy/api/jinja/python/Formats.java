package understudy.api.jinja.python;

import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Python's two ways to write values into a text: {@code %} and {@code str.format}. */
public final class Formats {
    private static final Pattern PERCENT =
            Pattern.compile("%(?:\\((\\w+)\\))?([-+ 0#]*)(\\d{0,4})(?:\\.(\\d{0,2}))?([srdiufFeEgGxXoc%])");
    private static final Pattern BRACES =
            Pattern.compile("\\{\\{|\\}\\}|\\{(\\w*)(?:!([rs]))?(?::(0?)(\\d{0,4})(?:\\.(\\d{1,2}))?([sdfx]?))?\\}");

    private Formats() {}

    /** Writes values into {@code %s} and the like. */
    public static String percent(String format, Object given) {
        var values = given instanceof Tuple tuple ? tuple : new Tuple(java.util.List.of(given));
        int[] next = {0};
        String text = PERCENT.matcher(format).replaceAll(match -> {
            if (match.group(5).equals("%")) {
                return "%";
            }
            String key = match.group(1);
            if (key == null && next[0] >= values.size()) {
                throw new JinjaException("not enough arguments for format string");
            }
            var value = key == null ? values.get(next[0]++) : Members.item(given, key);
            return java.util.regex.Matcher.quoteReplacement(one(match, value));
        });
        if (next[0] < values.size() && !(given instanceof Map)) {
            throw new JinjaException("not all arguments converted during string formatting");
        }
        return text;
    }

    private static String one(MatchResult match, Object value) {
        String precision = match.group(4);
        return formatted(match.group(2), match.group(3), precision == null ? "" : precision, match.group(5), value);
    }

    private static String formatted(String flags, String width, String precision, String kind, Object value) {
        String limit = precision.isEmpty() ? "" : "." + precision;
        if (kind.equals("s") || kind.equals("r") || kind.equals("c")) {
            String text = kind.equals("r") ? Text.repr(value) : Text.str(value);
            String adjusted = flags.contains("-") && !width.isEmpty() ? "-" : "";
            return String.format(Locale.ROOT, "%" + adjusted + width + limit + "s", text);
        }
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (!Numbers.isNumber(value)) {
            throw new JinjaException("%" + kind + " format: a real number is required, not " + Values.typeName(value));
        }
        String sized = flags.replace("#", "") + width;
        if ("diuxXo".contains(kind)) {
            var whole = java.math.BigDecimal.valueOf(Numbers.toDouble(value)).toBigInteger();
            var exact = Numbers.isInteger(value) ? Numbers.toBig(value) : whole;
            return String.format(Locale.ROOT, "%" + sized + ("diu".contains(kind) ? "d" : kind), exact);
        }
        return String.format(Locale.ROOT, "%" + sized + limit + kind.toLowerCase(Locale.ROOT), Numbers.toDouble(value));
    }

    /** Writes arguments into {@code {}}, {@code {0}} and {@code {name}}. */
    public static String braces(String format, Arguments arguments) {
        int[] next = {0};
        return BRACES.matcher(format).replaceAll(match -> {
            if (match.group().equals("{{") || match.group().equals("}}")) {
                return match.group().substring(1);
            }
            String key = match.group(1);
            boolean isIndex = key.chars().allMatch(c -> c >= '0' && c <= '9');
            int index = !isIndex ? Integer.MAX_VALUE : key.isEmpty() ? next[0]++ : Integer.parseInt(key);
            var value = arguments.get(index, key);
            boolean isRepr = "r".equals(match.group(2));
            String kind = match.group(6) == null || match.group(6).isEmpty()
                    ? (match.group(5) != null ? "f" : "s")
                    : match.group(6);
            String width = match.group(4) == null ? "" : match.group(4);
            String precision = match.group(5) == null ? "" : match.group(5);
            // Texts stand at the left, unlike with %.
            String flags = kind.equals("s") ? (Numbers.isNumber(value) ? "" : "-") : match.group(3);
            return java.util.regex.Matcher.quoteReplacement(
                    formatted(flags, width, precision, isRepr ? "r" : kind, value));
        });
    }
}

package understudy.jinja.python;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Python's two ways to write values into a text: {@code %} and {@code str.format}. */
public final class Formats {
    private static final Pattern PERCENT =
            Pattern.compile("%(?:\\((\\w+)\\))?([-+ 0#]*)(\\d{0,4})(?:\\.(\\d{0,2}))?([srdiufFeEgGxXoc%])");
    private static final Pattern BRACES = Pattern.compile(
            "\\{\\{|\\}\\}|\\{(\\w*)(?:!([rs]))?(?::([<>^])?(0(?=\\d))?(\\d{0,4})(?:\\.(\\d{1,2}))?([sdfx]?))?\\}");

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
            var whole = BigDecimal.valueOf(Numbers.toDouble(value)).toBigInteger();
            var exact = Numbers.isInteger(value) ? Numbers.toBig(value) : whole;
            return String.format(Locale.ROOT, "%" + sized + ("diu".contains(kind) ? "d" : kind), exact);
        }
        double number = Numbers.toDouble(value);
        if (kind.equalsIgnoreCase("f") && !Double.isNaN(number) && !Double.isInfinite(number)) {
            // Java would round up what lies in the middle.
            int numDigits = precision.isEmpty() ? 6 : Integer.parseInt(precision);
            var rounded = new BigDecimal(number).setScale(numDigits, RoundingMode.HALF_EVEN);
            return String.format(Locale.ROOT, "%" + sized + "." + numDigits + "f", rounded);
        }
        return String.format(Locale.ROOT, "%" + sized + limit + kind.toLowerCase(Locale.ROOT), number);
    }

    /** Writes arguments into {@code {}}, {@code {0}} and {@code {name}}. */
    static String braces(String format, Arguments arguments) {
        int[] next = {0};
        return BRACES.matcher(format).replaceAll(match -> {
            if (match.group().equals("{{") || match.group().equals("}}")) {
                return match.group().substring(1);
            }
            String key = match.group(1);
            boolean isIndex = key.chars().allMatch(c -> c >= '0' && c <= '9');
            int index = !isIndex ? Integer.MAX_VALUE : key.isEmpty() ? next[0]++ : Integer.parseInt(key);
            var value = arguments.get(index, key);
            return java.util.regex.Matcher.quoteReplacement(
                    aligned(match, "r".equals(match.group(2)) ? Text.repr(value) : value));
        });
    }

    private static String aligned(MatchResult match, Object value) {
        String precision = orEmpty(match.group(6));
        String asked = orEmpty(match.group(7));
        String kind = !asked.isEmpty() ? asked : precision.isEmpty() ? "s" : "f";
        boolean isZeroed = !orEmpty(match.group(4)).isEmpty();
        String text = formatted(isZeroed ? "0" : "", isZeroed ? orEmpty(match.group(5)) : "", precision, kind, value);
        int missing = orEmpty(match.group(5)).isEmpty()
                ? 0
                : Math.max(0, Integer.parseInt(match.group(5)) - (int) Values.length(text));
        String align = orEmpty(match.group(3));
        boolean isRight = align.equals(">") || (align.isEmpty() && Numbers.isNumber(value));
        int before = isRight ? missing : align.equals("^") ? missing / 2 : 0;
        return Strings.padded(text, before, missing - before, " ");
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}

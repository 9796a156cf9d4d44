package understudy.jinja;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import understudy.jinja.python.Arguments;
import understudy.jinja.python.Formats;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Members;
import understudy.jinja.python.None;
import understudy.jinja.python.Numbers;
import understudy.jinja.python.Operator;
import understudy.jinja.python.PythonJson;
import understudy.jinja.python.StringMethods;
import understudy.jinja.python.Strings;
import understudy.jinja.python.Text;
import understudy.jinja.python.Tuple;
import understudy.jinja.python.Undefined;
import understudy.jinja.python.Values;

/** Filters, {@code value | name}: those of single values here, those of sequences in {@link SequenceFilters}. */
final class Filters {
    private static final Pattern WORD_START = Pattern.compile("([-\\s({\\[<]+)");
    private static final Pattern WORD = Pattern.compile("\\w+", Pattern.UNICODE_CHARACTER_CLASS);
    private static final Map<Integer, String> PREFIXES = Map.of(2, "0b", 8, "0o", 16, "0x");
    private static final int MOST_INDENT = 1000;

    private static final Map<String, Filter> FILTERS = Map.ofEntries(
            Map.entry("default", Filters::otherwise),
            Map.entry("d", Filters::otherwise),
            Map.entry("tojson", PythonJson::dumps),
            Map.entry("string", (value, with) -> Text.str(value)),
            Map.entry("safe", (value, with) -> Text.str(value)),
            Map.entry("e", (value, with) -> escaped(Text.str(value))),
            Map.entry("escape", (value, with) -> escaped(Text.str(value))),
            Map.entry("upper", (value, with) -> Text.str(value).toUpperCase(Locale.ROOT)),
            Map.entry("lower", (value, with) -> Text.str(value).toLowerCase(Locale.ROOT)),
            Map.entry("capitalize", (value, with) -> Strings.capitalize(Text.str(value))),
            Map.entry("title", (value, with) -> title(Text.str(value))),
            Map.entry("trim", (value, with) -> method(value, "strip", with)),
            Map.entry("replace", Filters::replace),
            Map.entry("indent", Filters::indent),
            Map.entry(
                    "format",
                    (value, with) -> Formats.percent(
                            Text.str(value), with.named().isEmpty() ? new Tuple(with.positional()) : with.named())),
            Map.entry("center", (value, with) -> method(value, "center", with.isEmpty() ? Arguments.of(80L) : with)),
            Map.entry(
                    "wordcount",
                    (value, with) -> WORD.matcher(Text.str(value)).results().count()),
            Map.entry("int", Filters::whole),
            Map.entry("float", Filters::real),
            Map.entry(
                    "abs", (value, with) -> Values.compare(value, 0L, "<") < 0 ? Operator.subtract(0L, value) : value),
            Map.entry("round", Filters::round),
            Map.entry("attr", (value, with) -> Members.methodOrUndefined(value, with.text(0, "name"))));

    private Filters() {}

    static boolean isKnown(String name) {
        return FILTERS.containsKey(name) || SequenceFilters.FILTERS.containsKey(name);
    }

    /** Returns the filter of a name. */
    static Filter find(String name, int line) {
        var filter = FILTERS.get(name);
        if (filter == null) {
            filter = SequenceFilters.FILTERS.get(name);
        }
        if (filter == null) {
            throw JinjaException.at(line, "No filter named '" + name + "'.");
        }
        return filter;
    }

    private static Object otherwise(Object value, Arguments with) {
        boolean isMissing = value instanceof Undefined || (with.flag(1, "boolean", false) && !Values.isTrue(value));
        return isMissing ? with.get(0, "default_value", "") : value;
    }

    private static Object method(Object value, String name, Arguments with) {
        var method = StringMethods.find(Text.str(value), name);
        if (method == null) {
            throw new JinjaException("'str object' has no attribute '" + name + "'");
        }
        return method.call(with);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace(">", "&gt;")
                .replace("<", "&lt;")
                .replace("'", "&#39;")
                .replace("\"", "&#34;");
    }

    private static String title(String text) {
        var title = new StringBuilder();
        int from = 0;
        var start = WORD_START.matcher(text);
        while (start.find()) {
            title.append(Strings.capitalize(text.substring(from, start.start())))
                    .append(start.group());
            from = start.end();
        }
        return title.append(Strings.capitalize(text.substring(from))).toString();
    }

    private static Object replace(Object value, Arguments with) {
        var most = with.get(2, "count", None.NONE);
        return Strings.replace(
                Text.str(value),
                Text.str(with.get(0, "old")),
                Text.str(with.get(1, "new")),
                most == None.NONE ? -1 : with.number(2, "count", -1));
    }

    private static Object indent(Object value, Arguments with) {
        var width = with.get(0, "width", 4L);
        String spaces =
                width instanceof String text ? text : " ".repeat((int) Math.max(0, Numbers.toLong(width, MOST_INDENT)));
        boolean indentsFirst = with.flag(1, "first", false);
        boolean indentsBlank = with.flag(2, "blank", false);
        // A line break is added before the text is split, so that one at its end is kept.
        var lines = Strings.lines(Text.str(value) + "\n", false);
        var indented = new StringBuilder(indentsFirst ? spaces : "");
        for (int i = 0; i < lines.size(); i++) {
            String line = Text.str(lines.get(i));
            boolean isIndented = i > 0 && (indentsBlank || !line.isEmpty());
            indented.append(i > 0 ? "\n" : "").append(isIndented ? spaces : "").append(line);
        }
        return indented.toString();
    }

    private static Object whole(Object value, Arguments with) {
        if (Numbers.isNumber(value)) {
            var number = Numbers.toNumber(value);
            return number instanceof Double real ? parsed(real, with) : number;
        }
        String text = Strings.strip(Text.str(value)).replace("_", "");
        int base = with.number(1, "base", 10);
        boolean hasPrefix = text.length() > 2 && PREFIXES.getOrDefault(base, "").equalsIgnoreCase(text.substring(0, 2));
        String digits = hasPrefix ? text.substring(2) : text.startsWith("+") ? text.substring(1) : text;
        try {
            return Numbers.ofBig(new java.math.BigInteger(digits, base));
        } catch (NumberFormatException e) {
            return parsed(parsed(text), with);
        }
    }

    private static Object parsed(double number, Arguments with) {
        boolean isReal = !Double.isNaN(number) && !Double.isInfinite(number);
        return isReal ? Numbers.ofBig(new java.math.BigDecimal(number).toBigInteger()) : with.get(0, "default", 0L);
    }

    private static double parsed(String text) {
        try {
            return text.isEmpty() || !Character.isDigit(text.charAt(text.length() - 1))
                    ? Double.NaN
                    : Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private static Object real(Object value, Arguments with) {
        double number = Numbers.isNumber(value) ? Numbers.toDouble(value) : parsed(Strings.strip(Text.str(value)));
        return Double.isNaN(number) ? with.get(0, "default", 0.0) : (Object) number;
    }

    private static Object round(Object value, Arguments with) {
        int precision = with.number(0, "precision", 0);
        var mode = switch (with.text(1, "method", "common")) {
            case "ceil" -> java.math.RoundingMode.CEILING;
            case "floor" -> java.math.RoundingMode.FLOOR;
            default -> java.math.RoundingMode.HALF_EVEN;
        };
        double number = Numbers.toDouble(value);
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            return number;
        }
        var rounded = new java.math.BigDecimal(number).setScale(Math.max(-400, Math.min(400, precision)), mode);
        boolean staysWhole = Numbers.isInteger(value) && mode == java.math.RoundingMode.HALF_EVEN;
        return staysWhole ? Numbers.ofBig(rounded.toBigInteger()) : (Object) rounded.doubleValue();
    }
}

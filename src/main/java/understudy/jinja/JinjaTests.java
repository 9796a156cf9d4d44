package understudy.jinja;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import understudy.jinja.python.Callable;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.None;
import understudy.jinja.python.Numbers;
import understudy.jinja.python.Operator;
import understudy.jinja.python.Text;
import understudy.jinja.python.Undefined;
import understudy.jinja.python.Values;

/** Tests of values, {@code value is name}, by name. */
final class JinjaTests {
    private static final Map<String, Filter> TESTS = Map.ofEntries(
            Map.entry("defined", (value, with) -> !(value instanceof Undefined)),
            Map.entry("undefined", (value, with) -> value instanceof Undefined),
            Map.entry("none", (value, with) -> value == None.NONE),
            Map.entry("boolean", (value, with) -> value instanceof Boolean),
            Map.entry("true", (value, with) -> value.equals(true)),
            Map.entry("false", (value, with) -> value.equals(false)),
            Map.entry("string", (value, with) -> value instanceof String),
            Map.entry("number", (value, with) -> Numbers.isNumber(value)),
            Map.entry("integer", (value, with) -> Numbers.isInteger(value) && !(value instanceof Boolean)),
            Map.entry("float", (value, with) -> value instanceof Double),
            Map.entry("mapping", (value, with) -> value instanceof Map),
            Map.entry("iterable", (value, with) -> isSequence(value)),
            Map.entry("sequence", (value, with) -> isSequence(value)),
            Map.entry("callable", (value, with) -> value instanceof Callable),
            Map.entry("odd", (value, with) -> Math.floorMod(number(value), 2) == 1),
            Map.entry("even", (value, with) -> Math.floorMod(number(value), 2) == 0),
            Map.entry("divisibleby", (value, with) -> number(value) % number(with.get(0, "num")) == 0),
            Map.entry("in", (value, with) -> Values.contains(with.get(0, "seq"), value)),
            Map.entry("sameas", (value, with) -> isSame(value, with.get(0, "other"))),
            Map.entry("lower", (value, with) -> isCase(value, Text.str(value).toLowerCase(Locale.ROOT))),
            Map.entry("upper", (value, with) -> isCase(value, Text.str(value).toUpperCase(Locale.ROOT))),
            Map.entry("filter", (value, with) -> Filters.isKnown(Text.str(value))),
            Map.entry("test", (value, with) -> JinjaTests.isKnown(Text.str(value))));

    private static final Map<String, String> COMPARING = Map.ofEntries(
            Map.entry("eq", "=="),
            Map.entry("equalto", "=="),
            Map.entry("ne", "!="),
            Map.entry("lt", "<"),
            Map.entry("lessthan", "<"),
            Map.entry("le", "<="),
            Map.entry("gt", ">"),
            Map.entry("greaterthan", ">"),
            Map.entry("ge", ">="));

    private JinjaTests() {}

    private static boolean isKnown(String name) {
        return TESTS.containsKey(name) || COMPARING.containsKey(name);
    }

    /** Returns the test of a name. */
    static Filter find(String name, int line) {
        var test = TESTS.get(name);
        if (test != null) {
            return test;
        }
        var operator = Operator.COMPARING.get(COMPARING.getOrDefault(name, name));
        if (operator == null) {
            throw JinjaException.at(line, "No test named '" + name + "'.");
        }
        return (value, with) -> operator.apply(value, with.get(0, "other"));
    }

    private static boolean isSequence(Object value) {
        return value instanceof List || value instanceof Map || value instanceof String || value instanceof Undefined;
    }

    private static long number(Object value) {
        return Numbers.toLong(value, Long.MAX_VALUE);
    }

    private static boolean isSame(Object value, Object other) {
        boolean isSimple = value instanceof Boolean || value instanceof Long || value instanceof String;
        return isSimple ? value.equals(other) : value == other;
    }

    private static boolean isCase(Object value, String changed) {
        String text = Text.str(value);
        return text.equals(changed) && text.codePoints().anyMatch(Character::isLetter);
    }
}

package understudy.jinja.python;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** Methods of {@code str}. */
public final class StringMethods {
    private interface Method {
        Object call(String text, Arguments arguments);
    }

    private static final Map<String, Method> METHODS = Map.ofEntries(
            Map.entry("strip", (text, with) -> Strings.stripStart(Strings.stripEnd(text, goes(with)), goes(with))),
            Map.entry("lstrip", (text, with) -> Strings.stripStart(text, goes(with))),
            Map.entry("rstrip", (text, with) -> Strings.stripEnd(text, goes(with))),
            Map.entry("upper", (text, with) -> text.toUpperCase(Locale.ROOT)),
            Map.entry("lower", (text, with) -> text.toLowerCase(Locale.ROOT)),
            Map.entry("casefold", (text, with) -> text.toLowerCase(Locale.ROOT)),
            Map.entry("title", (text, with) -> Strings.title(text)),
            Map.entry("capitalize", (text, with) -> Strings.capitalize(text)),
            Map.entry("split", StringMethods::split),
            Map.entry("rsplit", StringMethods::splitFromEnd),
            Map.entry("splitlines", (text, with) -> Strings.lines(text, with.flag(0, "keepends", false))),
            Map.entry("partition", (text, with) -> partition(text, with.text(0, "sep"), false)),
            Map.entry("rpartition", (text, with) -> partition(text, with.text(0, "sep"), true)),
            Map.entry("startswith", (text, with) -> anyPart(with, text, String::startsWith)),
            Map.entry("endswith", (text, with) -> anyPart(with, text, String::endsWith)),
            Map.entry(
                    "removeprefix",
                    (text, with) -> text.startsWith(with.text(0, "prefix"))
                            ? text.substring(with.text(0, "prefix").length())
                            : text),
            Map.entry(
                    "removesuffix",
                    (text, with) -> text.endsWith(with.text(0, "suffix"))
                            ? text.substring(
                                    0, text.length() - with.text(0, "suffix").length())
                            : text),
            Map.entry(
                    "replace",
                    (text, with) -> Strings.replace(
                            text, with.text(0, "old"), with.text(1, "new"), with.number(2, "count", -1))),
            Map.entry("find", (text, with) -> position(text, text.indexOf(with.text(0, "sub")))),
            Map.entry("rfind", (text, with) -> position(text, text.lastIndexOf(with.text(0, "sub")))),
            Map.entry("index", StringMethods::index),
            Map.entry("count", (text, with) ->
                    (long) (Strings.split(text, with.text(0, "sub"), -1).size() - 1)),
            Map.entry("join", (text, with) -> join(text, Values.items(with.get(0, "iterable")))),
            Map.entry("format", Formats::braces),
            Map.entry("zfill", (text, with) -> zeroes(text, width(with))),
            Map.entry("ljust", (text, with) -> Strings.padded(text, 0, missing(text, with), with.text(1, "fill", " "))),
            Map.entry("rjust", (text, with) -> Strings.padded(text, missing(text, with), 0, with.text(1, "fill", " "))),
            Map.entry("center", (text, with) -> centered(text, missing(text, with), width(with))),
            Map.entry("isspace", (text, with) -> Strings.isSpace(text)),
            Map.entry("isdigit", (text, with) -> all(text, Character::isDigit)),
            Map.entry("isdecimal", (text, with) -> all(text, Character::isDigit)),
            Map.entry("isnumeric", (text, with) -> all(text, Character::isDigit)),
            Map.entry("isalpha", (text, with) -> all(text, Character::isLetter)),
            Map.entry("isalnum", (text, with) -> all(text, Character::isLetterOrDigit)),
            Map.entry("isupper", (text, with) -> isCase(text, Character::isLowerCase, Character::isUpperCase)),
            Map.entry("islower", (text, with) -> isCase(text, Character::isUpperCase, Character::isLowerCase)));

    private static final int MOST_WIDTH = 10_000;

    private StringMethods() {}

    /** Returns a method of a text, or null if there is none of that name. */
    public static @Nullable Callable find(String text, String name) {
        var method = METHODS.get(name);
        return method == null ? null : arguments -> method.call(text, arguments);
    }

    private static IntPredicate goes(Arguments with) {
        if (with.get(0, "chars", None.NONE) == None.NONE) {
            return Strings::isSpace;
        }
        String chars = with.text(0, "chars");
        return c -> chars.indexOf(c) >= 0;
    }

    private static Object split(String text, Arguments with) {
        int most = with.number(1, "maxsplit", -1);
        return with.get(0, "sep", None.NONE) == None.NONE
                ? Strings.split(text, most)
                : Strings.split(text, with.text(0, "sep"), most);
    }

    private static Object splitFromEnd(String text, Arguments with) {
        int most = with.number(1, "maxsplit", -1);
        if (with.get(0, "sep", None.NONE) != None.NONE) {
            return Strings.splitFromEnd(text, with.text(0, "sep"), most);
        }
        // Space is split from the end as from the start of the reversed text.
        var parts = Strings.split(reversed(text), most).stream()
                .map(part -> (Object) reversed(Text.str(part)))
                .collect(java.util.stream.Collectors.toList());
        Collections.reverse(parts);
        return parts;
    }

    public static String reversed(String text) {
        return new StringBuilder(text).reverse().toString();
    }

    private static Tuple partition(String text, String separator, boolean isLast) {
        int at = isLast ? text.lastIndexOf(separator) : text.indexOf(separator);
        if (at < 0) {
            return new Tuple(isLast ? List.of("", "", text) : List.of(text, "", ""));
        }
        return new Tuple(List.of(text.substring(0, at), separator, text.substring(at + separator.length())));
    }

    private static boolean anyPart(Arguments with, String text, java.util.function.BiPredicate<String, String> has) {
        var wanted = with.get(0, "prefix");
        String from = Text.str(Slices.of(text, with.get(1, "start", None.NONE), with.get(2, "end", None.NONE), 1L));
        return wanted instanceof Tuple tuple
                ? tuple.stream().anyMatch(each -> has.test(from, Text.str(each)))
                : has.test(from, with.text(0, "prefix"));
    }

    private static Object position(String text, int at) {
        return at < 0 ? -1L : (long) text.codePointCount(0, at);
    }

    private static Object index(String text, Arguments with) {
        int at = text.indexOf(with.text(0, "sub"));
        if (at < 0) {
            throw new JinjaException("substring not found");
        }
        return position(text, at);
    }

    public static String join(String separator, List<Object> items) {
        var joined = new StringBuilder();
        for (int i = 0; i < items.size(); i++) {
            if (!(items.get(i) instanceof String item)) {
                throw new JinjaException(
                        "sequence item " + i + ": expected str instance, " + Values.typeName(items.get(i)) + " found");
            }
            joined.append(i > 0 ? separator : "").append(item);
        }
        return joined.toString();
    }

    public static int width(Arguments with) {
        int width = with.number(0, "width", 0);
        if (width > MOST_WIDTH) {
            throw new JinjaException("a width is at most " + MOST_WIDTH);
        }
        return width;
    }

    private static int missing(String text, Arguments with) {
        return width(with) - (int) Values.length(text);
    }

    public static String centered(String text, int missing, int width) {
        // Python puts the odd space in front if the width is odd as well.
        int before = missing / 2 + (missing & width & 1);
        return Strings.padded(text, before, missing - before, " ");
    }

    private static String zeroes(String text, int width) {
        boolean isSigned = text.startsWith("-") || text.startsWith("+");
        String zeroes = "0".repeat(Math.max(0, width - text.length()));
        return isSigned ? text.charAt(0) + zeroes + text.substring(1) : zeroes + text;
    }

    private static boolean all(String text, IntPredicate is) {
        return !text.isEmpty() && text.codePoints().allMatch(is);
    }

    private static boolean isCase(String text, IntPredicate isOther, IntPredicate is) {
        return text.codePoints().noneMatch(isOther) && text.codePoints().anyMatch(is);
    }
}

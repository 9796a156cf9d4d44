package understudy.jinja.python;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;

/** Texts by Python's rules, which count code points and know more kinds of space than Java. */
public final class Strings {
    private static final int NEXT_LINE = 0x85;
    private static final Pattern LINE = Pattern.compile("\r\n|[\n\r\u000b\f\u001c-\u001e\u0085\u2028\u2029]");

    private Strings() {}

    public static boolean isSpace(int c) {
        return c == ' ' || Character.isWhitespace(c) || Character.isSpaceChar(c) || c == NEXT_LINE;
    }

    /** Returns whether a text is nothing but space, and not empty. */
    public static boolean isSpace(String text) {
        return !text.isEmpty() && text.codePoints().allMatch(Strings::isSpace);
    }

    public static int count(String text, char c) {
        int count = 0;
        for (int i = 0; i < text.length(); i++) {
            count += text.charAt(i) == c ? 1 : 0;
        }
        return count;
    }

    public static String strip(String text) {
        return stripStart(stripEnd(text, Strings::isSpace), Strings::isSpace);
    }

    public static String stripEnd(String text) {
        return stripEnd(text, Strings::isSpace);
    }

    public static String stripStart(String text, IntPredicate goes) {
        int start = 0;
        while (start < text.length() && goes.test(text.codePointAt(start))) {
            start += Character.charCount(text.codePointAt(start));
        }
        return text.substring(start);
    }

    public static String stripEnd(String text, IntPredicate goes) {
        int end = text.length();
        while (end > 0 && goes.test(text.codePointBefore(end))) {
            end -= Character.charCount(text.codePointBefore(end));
        }
        return text.substring(0, end);
    }

    public static List<Object> characters(String text) {
        var characters = new ArrayList<Object>(text.length());
        text.codePoints().forEach(c -> characters.add(Character.toString(c)));
        return characters;
    }

    public static boolean hasPairs(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isHighSurrogate(text.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    /** Splits at space, at most so many times, or as often as there is any if that is negative. */
    public static List<Object> split(String text, int most) {
        var parts = new ArrayList<Object>();
        String rest = stripStart(text, Strings::isSpace);
        while (!rest.isEmpty()) {
            int end = 0;
            while (end < rest.length() && !isSpace(rest.charAt(end))) {
                end++;
            }
            if (end == rest.length() || parts.size() == most) {
                parts.add(rest);
                return parts;
            }
            parts.add(rest.substring(0, end));
            rest = stripStart(rest.substring(end), Strings::isSpace);
        }
        return parts;
    }

    public static List<Object> split(String text, String separator, int most) {
        if (separator.isEmpty()) {
            throw new JinjaException("empty separator");
        }
        var parts = new ArrayList<Object>();
        int from = 0;
        for (int at = text.indexOf(separator); at >= 0 && parts.size() != most; at = text.indexOf(separator, from)) {
            parts.add(text.substring(from, at));
            from = at + separator.length();
        }
        parts.add(text.substring(from));
        return parts;
    }

    public static List<Object> splitFromEnd(String text, String separator, int most) {
        if (most < 0) {
            return split(text, separator, most);
        }
        if (separator.isEmpty()) {
            throw new JinjaException("empty separator");
        }
        var parts = new ArrayList<Object>();
        int to = text.length();
        for (int at = text.lastIndexOf(separator); at >= 0 && parts.size() != most; ) {
            parts.add(0, text.substring(at + separator.length(), to));
            to = at;
            at = text.lastIndexOf(separator, to - separator.length());
        }
        parts.add(0, text.substring(0, to));
        return parts;
    }

    public static List<Object> lines(String text, boolean keepsEnds) {
        var lines = new ArrayList<Object>();
        var end = LINE.matcher(text);
        int from = 0;
        while (end.find()) {
            lines.add(text.substring(from, keepsEnds ? end.end() : end.start()));
            from = end.end();
        }
        if (from < text.length()) {
            lines.add(text.substring(from));
        }
        return lines;
    }

    public static String replace(String text, String old, String by, int most) {
        if (most < 0) {
            return text.replace(old, by);
        }
        var replaced = new StringBuilder();
        int from = 0;
        for (int i = 0; i < most; i++) {
            int at = text.indexOf(old, from);
            if (at < 0 || (old.isEmpty() && from > text.length())) {
                break;
            }
            replaced.append(text, from, at).append(by);
            from = at + old.length();
            if (old.isEmpty() && from < text.length()) {
                replaced.append(text.charAt(from++));
            }
        }
        return replaced.append(text, Math.min(from, text.length()), text.length())
                .toString();
    }

    public static String capitalize(String text) {
        if (text.isEmpty()) {
            return text;
        }
        int first = text.offsetByCodePoints(0, 1);
        return text.substring(0, first).toUpperCase(Locale.ROOT)
                + text.substring(first).toLowerCase(Locale.ROOT);
    }

    /** Writes the first letter of each run of letters large, and the others small. */
    public static String title(String text) {
        var title = new StringBuilder();
        boolean isInWord = false;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            int c = text.codePointAt(i);
            title.appendCodePoint(isInWord ? Character.toLowerCase(c) : Character.toTitleCase(c));
            isInWord = Character.isLetter(c);
        }
        return title.toString();
    }

    public static String padded(String text, int before, int after, String with) {
        return with.repeat(Math.max(0, before)) + text + with.repeat(Math.max(0, after));
    }
}

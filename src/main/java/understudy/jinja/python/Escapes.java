package understudy.jinja.python;

/** Escape sequences of string literals, as Python reads and writes them. */
public final class Escapes {
    private static final String PLAIN = "\\'\"abfnrtv";
    private static final String MEANT = "\\'\"\u0007\b\f\n\r\t\u000b";
    private static final int OCTAL = 8;
    private static final int HEX = 16;

    private Escapes() {}

    /** Returns the text of a literal, given without its quotes. */
    public static String unescape(String literal, int line) {
        if (literal.indexOf('\\') < 0) {
            return literal;
        }
        var text = new StringBuilder();
        for (int i = 0; i < literal.length(); i++) {
            char c = literal.charAt(i);
            if (c != '\\' || i + 1 == literal.length()) {
                text.append(c);
                continue;
            }
            char kind = literal.charAt(++i);
            int meant = PLAIN.indexOf(kind);
            if (meant >= 0) {
                text.append(MEANT.charAt(meant));
            } else if (kind >= '0' && kind <= '7') {
                int end = i + 1;
                while (end < literal.length() && end < i + 3 && Character.digit(literal.charAt(end), OCTAL) >= 0) {
                    end++;
                }
                text.append((char) Integer.parseInt(literal, i, end, OCTAL));
                i = end - 1;
            } else if (digits(kind) > 0) {
                text.appendCodePoint(hex(literal, i + 1, digits(kind), line));
                i += digits(kind);
            } else if (kind != '\n') {
                text.append('\\').append(kind);
            }
        }
        return text.toString();
    }

    private static int digits(char kind) {
        return switch (kind) {
            case 'x' -> 2;
            case 'u' -> 4;
            case 'U' -> 8;
            default -> 0;
        };
    }

    private static int hex(String literal, int start, int numDigits, int line) {
        int end = start + numDigits;
        boolean isHex = end <= literal.length()
                && literal.substring(start, end).chars().allMatch(c -> Character.digit(c, HEX) >= 0);
        long code = isHex ? Long.parseLong(literal, start, end, HEX) : -1;
        if (code < 0 || code > Character.MAX_CODE_POINT) {
            throw JinjaException.at(line, "truncated or illegal escape in a string");
        }
        return (int) code;
    }

    /** Returns Python's {@code repr} of a string. */
    public static String quoted(String text) {
        char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
        var quoted = new StringBuilder().append(quote);
        text.codePoints().forEach(c -> {
            if (c == quote || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c == '\n' || c == '\r' || c == '\t') {
                quoted.append('\\').append(c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
            } else if (isPrintable(c)) {
                quoted.appendCodePoint(c);
            } else {
                quoted.append(String.format(c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c));
            }
        });
        return quoted.append(quote).toString();
    }

    private static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> true;
        };
    }
}

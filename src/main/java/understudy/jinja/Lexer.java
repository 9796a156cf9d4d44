package understudy.jinja;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import understudy.jinja.Token.Kind;
import understudy.jinja.python.Escapes;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Strings;

/**
 * Cuts a template into tokens (jinja2 {@code Lexer}, with {@code trim_blocks} and {@code lstrip_blocks} as Hugging Face
 * sets them): the line break behind a tag goes, and so do spaces between the start of a line and a tag.
 */
final class Lexer {
    private static final Pattern RAW = Pattern.compile("\\{%[-+]?\\s*raw\\s*(?:-%\\}\\s*|%\\})");
    private static final Pattern END_RAW = Pattern.compile("\\{%([-+]?)\\s*endraw\\s*(?:\\+%\\}|-%\\}\\s*|%\\}\\n?)");
    private static final Pattern NUMBER =
            Pattern.compile("(?:\\d+_)*\\d+(?:(?:\\.(?:\\d+_)*\\d+)?[eE][+-]?(?:\\d+_)*\\d+|\\.(?:\\d+_)*\\d+)?");
    private static final Pattern OPERATOR = Pattern.compile("//|\\*\\*|==|!=|>=|<=|[-+/*%~\\[\\](){}><=.:|,;]");

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private int position;
    private int line = 1;
    private boolean startsLine = true;

    private Lexer(String source) {
        this.source = source;
    }

    static List<Token> tokens(String template) {
        String source = newLines(template);
        var lexer = new Lexer(source.endsWith("\n") ? source.substring(0, source.length() - 1) : source);
        lexer.run();
        return lexer.tokens;
    }

    private static String newLines(String text) {
        return text.indexOf('\r') < 0 ? text : text.replace("\r\n", "\n").replace('\r', '\n');
    }

    private void run() {
        while (position < source.length()) {
            int tag = nextTag();
            if (tag < 0) {
                data(source.substring(position));
                break;
            }
            tag(tag);
        }
        add(Kind.END, "");
    }

    private int nextTag() {
        for (int at = source.indexOf('{', position); at >= 0; at = source.indexOf('{', at + 1)) {
            if (at + 1 < source.length() && "%{#".indexOf(source.charAt(at + 1)) >= 0) {
                return at;
            }
        }
        return -1;
    }

    private void tag(int at) {
        String text = source.substring(position, at);
        char kind = source.charAt(at + 1);
        char sign = at + 2 < source.length() ? source.charAt(at + 2) : ' ';
        data(before(text, sign, kind != '{'));
        line += Strings.count(text, '\n');
        var raw = matcher(RAW, at);
        if (raw.lookingAt()) {
            advance(at, raw.end());
            raw();
            return;
        }
        position = at + (sign == '-' || sign == '+' ? 3 : 2);
        switch (kind) {
            case '#' -> comment();
            case '%' -> inner(Kind.BLOCK_BEGIN, Kind.BLOCK_END, "%}");
            default -> inner(Kind.VARIABLE_BEGIN, Kind.VARIABLE_END, "}}");
        }
    }

    /** Returns the text before a tag, stripped as the tag says. */
    private String before(String text, char sign, boolean isStripped) {
        if (sign == '-') {
            return Strings.stripEnd(text);
        }
        int lineStart = text.lastIndexOf('\n') + 1;
        boolean isAlone = (lineStart > 0 || startsLine) && Strings.isSpace(text.substring(lineStart));
        return sign != '+' && isStripped && isAlone ? text.substring(0, lineStart) : text;
    }

    private Matcher matcher(Pattern pattern, int from) {
        return pattern.matcher(source).region(from, source.length());
    }

    private void data(String text) {
        if (!text.isEmpty()) {
            add(Kind.DATA, text);
        }
    }

    private void add(Kind kind, String text) {
        tokens.add(new Token(kind, text, line));
    }

    private void advance(int from, int to) {
        line += Strings.count(source.substring(from, to), '\n');
        startsLine = to > from && source.charAt(to - 1) == '\n';
        position = to;
    }

    private void raw() {
        var end = matcher(END_RAW, position);
        if (!end.find()) {
            throw JinjaException.at(line, "Missing end of raw directive");
        }
        String sign = end.group(1);
        data(before(source.substring(position, end.start()), sign.isEmpty() ? ' ' : sign.charAt(0), true));
        advance(position, end.end());
    }

    private void comment() {
        int end = source.indexOf("#}", position);
        if (end < 0) {
            throw JinjaException.at(line, "Missing end of comment tag");
        }
        char sign = end > position ? source.charAt(end - 1) : ' ';
        advance(position, behindEnd(end + 2, sign, true));
    }

    /** Returns where text goes on behind the end of a tag. */
    private int behindEnd(int end, char sign, boolean trims) {
        int next = end;
        if (sign == '-') {
            while (next < source.length() && Strings.isSpace(source.charAt(next))) {
                next++;
            }
        } else if (sign != '+' && trims && next < source.length() && source.charAt(next) == '\n') {
            next++;
        }
        return next;
    }

    private void inner(Kind begin, Kind end, String closing) {
        add(begin, "");
        Deque<Character> open = new ArrayDeque<>();
        while (true) {
            if (position >= source.length()) {
                throw JinjaException.at(line, "unexpected end of template");
            }
            char c = source.charAt(position);
            boolean isBlock = end == Kind.BLOCK_END;
            boolean isSigned = c == '-' || (c == '+' && isBlock);
            int close = isSigned ? position + 1 : position;
            if (open.isEmpty() && source.startsWith(closing, close)) {
                add(end, "");
                advance(position, behindEnd(close + 2, isSigned ? c : ' ', isBlock));
                return;
            }
            token(c, open);
        }
    }

    private void token(char c, Deque<Character> open) {
        int start = position;
        if (Strings.isSpace(c)) {
            advance(start, start + 1);
        } else if (c >= '0' && c <= '9') {
            number();
        } else if (c == '\'' || c == '"') {
            string(c);
        } else if (c == '_' || Character.isLetterOrDigit(source.codePointAt(start))) {
            int end = start;
            while (end < source.length() && isNamePart(source.codePointAt(end))) {
                end += Character.charCount(source.codePointAt(end));
            }
            add(Kind.NAME, source.substring(start, end));
            advance(start, end);
        } else {
            operator(open);
        }
    }

    private static boolean isNamePart(int c) {
        return c == '_' || Character.isLetterOrDigit(c);
    }

    private void number() {
        var number = matcher(NUMBER, position);
        if (!number.lookingAt()) {
            throw JinjaException.at(line, "unexpected char '" + source.charAt(position) + "'");
        }
        String text = number.group();
        boolean isFloat = text.indexOf('.') >= 0 || text.indexOf('e') >= 0 || text.indexOf('E') >= 0;
        boolean followsDot = position > 0 && source.charAt(position - 1) == '.';
        if (isFloat && followsDot) {
            // As in items.0.1, where each number is an index.
            text = text.substring(0, text.indexOf('.') < 0 ? text.length() : text.indexOf('.'));
            isFloat = false;
        }
        add(isFloat ? Kind.FLOAT : Kind.INTEGER, text.replace("_", ""));
        advance(position, position + text.length());
    }

    private void string(char quote) {
        int end = position + 1;
        while (end < source.length() && source.charAt(end) != quote) {
            end += source.charAt(end) == '\\' ? 2 : 1;
        }
        if (end >= source.length()) {
            throw JinjaException.at(line, "unexpected char '" + quote + "'");
        }
        add(Kind.STRING, Escapes.unescape(source.substring(position + 1, end), line));
        advance(position, end + 1);
    }

    private void operator(Deque<Character> open) {
        var operator = matcher(OPERATOR, position);
        if (!operator.lookingAt()) {
            throw JinjaException.at(line, "unexpected char '" + source.charAt(position) + "'");
        }
        String text = operator.group();
        char c = text.charAt(0);
        int opening = "([{".indexOf(c);
        if (opening >= 0) {
            open.push(")]}".charAt(opening));
        } else if (")]}".indexOf(c) >= 0) {
            if (open.isEmpty() || open.pop() != c) {
                throw JinjaException.at(line, "unexpected '" + c + "'");
            }
        }
        add(Kind.OPERATOR, text);
        advance(position, operator.end());
    }
}

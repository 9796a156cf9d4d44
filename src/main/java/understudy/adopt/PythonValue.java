package understudy.adopt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.util.regex.Pattern;

/**
 * Reader of values as Python's {@code repr} prints them: constants, texts, lists, tuples, dictionaries, and objects such as
 * {@code ServerArgs(a=1)}. What has no form in JSON, such as {@code torch.bfloat16} or {@code <Mode.FULL: 3>}, is a text. A
 * line that was cut off ends the value where it ends.
 */
final class PythonValue {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?([eE][-+]?\\d+)?");

    /** What is nested deeper is no value that an engine prints, and is passed over with the rest of its line. */
    private static final int MAX_DEPTH = 64;

    private final String text;
    private int next;
    private int depth;

    private PythonValue(String text) {
        this.text = text;
    }

    /** Returns the value at the beginning of a text; what follows it is passed over. */
    static JsonNode of(String text) {
        return new PythonValue(text).value();
    }

    /** Returns the values of {@code a=1, b='x'} at the beginning of a text, up to its end or a closing bracket. */
    static ObjectNode arguments(String text) {
        var reader = new PythonValue(text);
        return reader.fields('=', ')');
    }

    private JsonNode value() {
        skipBlanks();
        if (depth == MAX_DEPTH) {
            next = text.length();
            return NODES.nullNode();
        }
        depth++;
        var value = switch (peek()) {
            case '{' -> braced();
            case '[' -> list(']');
            case '(' -> list(')');
            case '\'', '"' -> NODES.textNode(quoted());
            case '<' -> NODES.textNode(angled());
            default -> word();
        };
        depth--;
        return value;
    }

    /** A set has values alone, and is a list here. */
    private JsonNode braced() {
        if (isSet()) {
            return list('}');
        }
        next++;
        return fields(':', '}');
    }

    /** Returns whether a comma or the end stands behind the first element of the braces, and no colon. */
    private boolean isSet() {
        int brackets = 0;
        char quote = 0;
        for (int i = next + 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote != 0) {
                i += c == '\\' ? 1 : 0;
                quote = c == quote ? 0 : quote;
            } else if (c == '\'' || c == '"') {
                quote = c;
            } else if (brackets == 0 && ":,}".indexOf(c) >= 0) {
                return c == ',' || (c == '}' && !text.substring(next + 1, i).isBlank());
            } else if ("([{<".indexOf(c) >= 0) {
                brackets++;
            } else if (")]}>".indexOf(c) >= 0) {
                brackets--;
            }
        }
        return false;
    }

    private ArrayNode list(char end) {
        var list = NODES.arrayNode();
        next++;
        while (true) {
            skipBlanks();
            if (isAtEnd(end)) {
                return list;
            }
            int before = next;
            list.add(value());
            skipBehindComma(end);
            if (next == before) {
                next++;
            }
        }
    }

    private ObjectNode fields(char separator, char end) {
        var fields = NODES.objectNode();
        while (true) {
            skipBlanks();
            if (isAtEnd(end)) {
                return fields;
            }
            int before = next;
            String name = peek() == '\'' || peek() == '"' ? quoted() : plain(separator);
            skipBlanks();
            if (peek() == separator) {
                next++;
                fields.set(name, value());
            }
            skipBehindComma(end);
            if (next == before) {
                next++;
            }
        }
    }

    /** Passes over what is left of a value that could not be read, up to the comma behind it. */
    private void skipBehindComma(char end) {
        skipBlanks();
        while (next < text.length() && peek() != ',' && peek() != end) {
            next++;
        }
        if (peek() == ',') {
            next++;
        }
    }

    private boolean isAtEnd(char end) {
        if (next >= text.length()) {
            return true;
        }
        if (peek() == end) {
            next++;
            return true;
        }
        return false;
    }

    private String plain(char separator) {
        int start = next;
        while (next < text.length() && peek() != separator && ",)}]".indexOf(peek()) < 0) {
            next++;
        }
        return text.substring(start, next).strip();
    }

    private String quoted() {
        char quote = text.charAt(next++);
        var content = new StringBuilder();
        while (next < text.length() && peek() != quote) {
            if (peek() == '\\' && next + 1 < text.length()) {
                next++;
            }
            content.append(text.charAt(next++));
        }
        next++;
        return content.toString();
    }

    private String angled() {
        int end = text.indexOf('>', next);
        int start = next;
        next = end < 0 ? text.length() : end + 1;
        return text.substring(start, next);
    }

    private JsonNode word() {
        int start = next;
        while (next < text.length() && "=,)}]({[:".indexOf(peek()) < 0) {
            next++;
        }
        if (peek() == '(') {
            next++;
            return fields('=', ')');
        }
        return constant(text.substring(start, next).strip());
    }

    private static JsonNode constant(String word) {
        return switch (word) {
            case "None" -> NODES.nullNode();
            case "True" -> NODES.booleanNode(true);
            case "False" -> NODES.booleanNode(false);
            default -> NUMBER.matcher(word).matches() ? NODES.numberNode(new BigDecimal(word)) : NODES.textNode(word);
        };
    }

    private void skipBlanks() {
        while (next < text.length() && Character.isWhitespace(text.charAt(next))) {
            next++;
        }
    }

    /** Returns the next character; at the end a zero, which is none of those that are asked for. */
    private char peek() {
        return next < text.length() ? text.charAt(next) : 0;
    }
}

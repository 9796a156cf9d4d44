package understudy.jinja.python;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Python's {@code json.dumps}, as the filter {@code tojson} calls it: spaces behind colons and commas. */
public final class PythonJson {
    private final boolean isAscii;
    private final String indent;
    private final String itemSeparator;
    private final String keySeparator;
    private final boolean sortsKeys;
    private final StringBuilder text = new StringBuilder();

    private PythonJson(Arguments arguments) {
        isAscii = arguments.flag(0, "ensure_ascii", false);
        var given = arguments.get(1, "indent", None.NONE);
        indent = given instanceof String spaces
                ? "\n" + spaces
                : given == None.NONE ? "" : "\n" + " ".repeat((int) Math.max(0, Numbers.toLong(given, 64)));
        var separators = arguments.get(2, "separators", None.NONE);
        boolean hasSeparators = separators instanceof List<?> list && list.size() == 2;
        itemSeparator = hasSeparators ? Text.str(Values.items(separators).get(0)) : indent.isEmpty() ? ", " : ",";
        keySeparator = hasSeparators ? Text.str(Values.items(separators).get(1)) : ": ";
        sortsKeys = arguments.flag(3, "sort_keys", false);
    }

    public static String dumps(Object value, Arguments arguments) {
        var json = new PythonJson(arguments);
        json.write(value, 0);
        return json.text.toString();
    }

    private void write(Object value, int depth) {
        if (value instanceof String string) {
            string(string);
        } else if (value == None.NONE) {
            text.append("null");
        } else if (value instanceof Boolean || value instanceof Long || value instanceof java.math.BigInteger) {
            text.append(value);
        } else if (value instanceof Double number) {
            text.append(number(number));
        } else if (value instanceof List<?> list) {
            list(list, depth);
        } else if (value instanceof Map<?, ?> map) {
            map(map, depth);
        } else {
            throw new JinjaException("Object of type " + Values.typeName(value) + " is not JSON serializable");
        }
    }

    private static String number(double number) {
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            return Double.isNaN(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
        }
        return Numbers.text(number);
    }

    private void list(List<?> list, int depth) {
        text.append('[');
        for (int i = 0; i < list.size(); i++) {
            text.append(i > 0 ? itemSeparator : "");
            line(depth + 1);
            write(list.get(i), depth + 1);
        }
        close(']', list.isEmpty(), depth);
    }

    private void map(Map<?, ?> map, int depth) {
        text.append('{');
        var entries = new ArrayList<Map.Entry<?, ?>>(map.entrySet());
        if (sortsKeys) {
            entries.sort((one, other) -> Values.compare(one.getKey(), other.getKey(), "<"));
        }
        for (int i = 0; i < entries.size(); i++) {
            text.append(i > 0 ? itemSeparator : "");
            line(depth + 1);
            string(key(entries.get(i).getKey()));
            text.append(keySeparator);
            write(entries.get(i).getValue(), depth + 1);
        }
        close('}', map.isEmpty(), depth);
    }

    private static String key(Object key) {
        if (key instanceof String name) {
            return name;
        }
        return key == None.NONE ? "null" : key instanceof Boolean ? key.toString() : Text.str(key);
    }

    private void line(int depth) {
        if (!indent.isEmpty()) {
            text.append('\n').append(indent.substring(1).repeat(depth));
        }
    }

    private void close(char bracket, boolean isEmpty, int depth) {
        if (!isEmpty) {
            line(depth);
        }
        text.append(bracket);
    }

    private void string(String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            int plain = "\"\\\n\r\t\f\b".indexOf(c);
            if (plain >= 0) {
                text.append('\\').append("\"\\nrtfb".charAt(plain));
            } else if (c < ' ' || (isAscii && c > '~')) {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}

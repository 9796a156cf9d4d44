package understudy.jinja.python;

import java.util.List;
import java.util.Map;

/** Python's {@code str} and {@code repr}. */
public final class Text {
    private Text() {}

    public static String str(Object value) {
        return value instanceof String text ? text : value instanceof Undefined ? "" : repr(value);
    }

    public static String repr(Object value) {
        if (value instanceof String text) {
            return Escapes.quoted(text);
        }
        if (value instanceof Boolean flag) {
            return flag ? "True" : "False";
        }
        if (value instanceof Double number) {
            return Numbers.text(number);
        }
        if (value instanceof Long || value instanceof java.math.BigInteger || value == None.NONE) {
            return value.toString();
        }
        var text = new StringBuilder();
        write(value, text);
        return text.toString();
    }

    private static void write(Object value, StringBuilder text) {
        if (value instanceof List<?> list) {
            boolean isTuple = value instanceof Tuple;
            text.append(isTuple ? '(' : '[');
            for (int i = 0; i < list.size(); i++) {
                text.append(i > 0 ? ", " : "");
                write(list.get(i), text);
            }
            text.append(isTuple && list.size() == 1 ? "," : "").append(isTuple ? ')' : ']');
        } else if (value instanceof Map<?, ?> map) {
            text.append('{');
            String separator = "";
            for (var each : map.entrySet()) {
                write(each.getKey(), text.append(separator));
                write(each.getValue(), text.append(": "));
                separator = ", ";
            }
            text.append('}');
        } else if (value instanceof Undefined) {
            text.append("Undefined");
        } else if (value instanceof Callable || value instanceof Namespace || value instanceof HasMembers) {
            text.append('<').append(Values.typeName(value)).append('>');
        } else {
            text.append(repr(value));
        }
    }
}

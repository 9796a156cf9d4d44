package understudy.api.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request, read one by one, as leniently as Pydantic does for vLLM: numbers may be written as text,
 * null is the same as nothing, and fields that are not read are ignored.
 */
public final class JsonBody {
    private final ObjectNode node;
    private final String path;

    public JsonBody(ObjectNode node) {
        this(node, "body");
    }

    private JsonBody(ObjectNode node, String path) {
        this.node = node;
        this.path = path;
    }

    /** Returns the body without a field, which need not be kept any longer. */
    public JsonBody without(String key) {
        ObjectNode rest = Json.object().setAll(node);
        rest.remove(key);
        return new JsonBody(rest, path);
    }

    /** Returns the field, or null if it is absent or null. */
    public @Nullable JsonNode get(String key) {
        var value = node.get(key);
        return value == null || value.isNull() ? null : value;
    }

    /** Returns the field, which must be there. */
    public JsonNode require(String key) {
        var value = get(key);
        if (value == null) {
            throw ApiException.invalid("Field required", at(key));
        }
        return value;
    }

    public @Nullable String text(String key) {
        var value = get(key);
        if (value != null && !value.isTextual()) {
            throw ApiException.invalid("Input should be a valid string", at(key));
        }
        return value == null ? null : value.textValue();
    }

    public boolean bool(String key, boolean otherwise) {
        var value = get(key);
        if (value == null) {
            return otherwise;
        }
        return switch (value.asText().toLowerCase(java.util.Locale.ROOT)) {
            case "true", "1", "1.0", "yes", "on" -> true;
            case "false", "0", "0.0", "no", "off" -> false;
            default -> throw ApiException.invalid("Input should be a valid boolean", at(key));
        };
    }

    /** Returns a whole number, or null. */
    public @Nullable Long integer(String key) {
        var value = get(key);
        return value == null ? null : integer(value, at(key));
    }

    public int integer(String key, int otherwise) {
        var value = integer(key);
        return value == null ? otherwise : toInt(value, at(key));
    }

    public @Nullable Double number(String key) {
        var value = get(key);
        if (value == null) {
            return null;
        }
        var number = decimal(value);
        if (number == null) {
            throw ApiException.invalid("Input should be a valid number", at(key));
        }
        return number.doubleValue();
    }

    /** Returns a list of strings; a single string is a list of one, and nothing is an empty list. */
    public List<String> texts(String key) {
        var value = get(key);
        var texts = new ArrayList<String>();
        if (value == null) {
            return texts;
        }
        if (!value.isTextual() && !value.isArray()) {
            throw ApiException.invalid("Input should be a valid string or list", at(key));
        }
        for (var each : value.isTextual() ? List.of(value) : value) {
            if (!each.isTextual()) {
                throw ApiException.invalid("Input should be a valid string", at(key));
            }
            texts.add(each.textValue());
        }
        return texts;
    }

    /** Returns a list of token ids; nothing is an empty list. */
    public int[] tokens(String key) {
        var value = get(key);
        if (value == null) {
            return new int[0];
        }
        if (!value.isArray()) {
            throw ApiException.invalid("Input should be a valid list", at(key));
        }
        return tokens(value, at(key));
    }

    /** Returns an array node as token ids. */
    public static int[] tokens(JsonNode array, String path) {
        var tokens = new int[array.size()];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = toInt(integer(array.get(i), path + "." + i), path + "." + i);
        }
        return tokens;
    }

    /** Returns a nested object, or an empty one. */
    public JsonBody object(String key) {
        var value = get(key);
        if (value == null) {
            return new JsonBody(Json.object(), at(key));
        }
        if (value instanceof ObjectNode object) {
            return new JsonBody(object, at(key));
        }
        throw ApiException.invalid("Input should be a valid dictionary", at(key));
    }

    /** Returns a list of objects; nothing is an empty list. */
    public List<JsonBody> objects(String key) {
        var value = get(key);
        var objects = new ArrayList<JsonBody>();
        if (value == null) {
            return objects;
        }
        if (!value.isArray()) {
            throw ApiException.invalid("Input should be a valid list", at(key));
        }
        for (var each : value) {
            String place = at(key) + "." + objects.size();
            if (!(each instanceof ObjectNode object)) {
                throw ApiException.invalid("Input should be a valid dictionary", place);
            }
            objects.add(new JsonBody(object, place));
        }
        return objects;
    }

    public ObjectNode node() {
        return node;
    }

    /** Returns the path of a field. */
    public String at(String key) {
        return path + "." + key;
    }

    /** Refuses a text that is none of these, unless there is none. */
    public void requireOneOf(String key, List<String> allowed) {
        String given = text(key);
        if (given != null && !allowed.contains(given)) {
            int last = allowed.size() - 1;
            throw ApiException.invalid(
                    "Input should be '" + String.join("', '", allowed.subList(0, last)) + "' or '" + allowed.get(last)
                            + "'",
                    at(key));
        }
    }

    private static long integer(JsonNode value, String path) {
        var number = decimal(value);
        if (number == null || number.stripTrailingZeros().scale() > 0) {
            throw ApiException.invalid("Input should be a valid integer", path);
        }
        try {
            return number.longValueExact();
        } catch (ArithmeticException e) {
            throw ApiException.invalid("Input should be a valid integer in range", path);
        }
    }

    private static int toInt(long value, String path) {
        if (value != (int) value) {
            throw ApiException.invalid("Input should be a valid integer in range", path);
        }
        return (int) value;
    }

    /** Huge exponents are refused: they have no use, and would take forever to write out. */
    private static @Nullable BigDecimal decimal(JsonNode value) {
        if (!value.isNumber() && !value.isTextual()) {
            return null;
        }
        try {
            var number = value.isBigInteger() || value.isIntegralNumber()
                    ? new BigDecimal(value.asText())
                    : new BigDecimal(value.asText().strip());
            return Math.abs((long) number.scale()) > 400 ? null : number;
        } catch (NumberFormatException e) {
            return null;
        }
    }
}

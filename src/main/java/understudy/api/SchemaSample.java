package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import org.apache.commons.rng.UniformRandomProvider;

/**
 * Makes up JSON that a schema accepts: types, enums, constants, bounds, required properties, items, references, the first of
 * several alternatives. Text patterns are not followed, but for the common formats.
 */
final class SchemaSample {
    private static final int MAX_DEPTH = 32;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final Set<String> OBJECT_KEYS = Set.of("properties", "required", "additionalProperties");

    private final JsonNode root;
    private final UniformRandomProvider random;

    SchemaSample(JsonNode root, UniformRandomProvider random) {
        this.root = root;
        this.random = random;
    }

    /** Returns one of the many values that the schema accepts. */
    JsonNode sample() {
        return sample(root, 0);
    }

    private JsonNode sample(JsonNode schema, int depth) {
        if (depth > MAX_DEPTH) {
            return NODES.nullNode();
        }
        if (schema.has("const")) {
            return schema.get("const");
        }
        if (schema.path("enum").size() > 0) {
            return schema.get("enum").get(random.nextInt(schema.get("enum").size()));
        }
        for (String key : new String[] {"anyOf", "oneOf", "allOf"}) {
            if (schema.path(key).size() > 0) {
                return sample(schema.get(key).get(0), depth + 1);
            }
        }
        if (schema.has("$ref")) {
            return sample(resolve(schema.get("$ref").asText()), depth + 1);
        }
        return ofType(schema, depth);
    }

    private JsonNode ofType(JsonNode schema, int depth) {
        return switch (type(schema)) {
            case "object" -> object(schema, depth);
            case "array" -> array(schema, depth);
            case "integer" -> integer(schema);
            case "number" -> number(schema);
            case "boolean" -> NODES.booleanNode(random.nextBoolean());
            case "null" -> NODES.nullNode();
            default -> NODES.textNode(text(schema));
        };
    }

    private static String type(JsonNode schema) {
        var type = schema.path("type");
        if (type.isTextual()) {
            return type.textValue();
        }
        if (type.size() > 0) {
            return type.get(0).asText();
        }
        if (OBJECT_KEYS.stream().anyMatch(schema::has)) {
            return "object";
        }
        return schema.has("items") ? "array" : "string";
    }

    /** Every property is given, the required ones first, as small models like to do; deep down only the required ones. */
    private ObjectNode object(JsonNode schema, int depth) {
        var object = NODES.objectNode();
        var properties = schema.path("properties");
        for (var name : schema.path("required")) {
            object.set(name.asText(), sample(properties.path(name.asText()), depth + 1));
        }
        if (depth < 8) {
            properties.properties().forEach(property -> {
                if (!object.has(property.getKey())) {
                    object.set(property.getKey(), sample(property.getValue(), depth + 1));
                }
            });
        }
        return object;
    }

    private JsonNode array(JsonNode schema, int depth) {
        var array = NODES.arrayNode();
        int min = Math.min(64, schema.path("minItems").asInt(1));
        int max = schema.path("maxItems").asInt(min + 2);
        int size = Math.max(0, Math.min(min + random.nextInt(3), max));
        for (int i = 0; i < size && depth < MAX_DEPTH; i++) {
            array.add(sample(schema.path("items"), depth + 4));
        }
        return array;
    }

    private JsonNode integer(JsonNode schema) {
        long min = (long) Math.ceil(lower(schema, 1));
        long max = (long) Math.floor(upper(schema, min + 99.0, 1));
        long step = Math.max(1, schema.path("multipleOf").asLong(1));
        long first = -Math.floorDiv(-min, step);
        long last = Math.max(first, Math.floorDiv(max, step));
        long drawn = first + Math.floorMod(random.nextLong(), last - first + 1);
        return NODES.numberNode(drawn * step);
    }

    private JsonNode number(JsonNode schema) {
        double min = lower(schema, 0.5);
        double max = upper(schema, min + 99, 0.5);
        return NODES.numberNode(Math.max(min, Math.min(max, min + Math.round((max - min) * random.nextDouble()))));
    }

    private static double lower(JsonNode schema, double exclusiveBy) {
        boolean isOpenBelow = !schema.has("minimum") && !schema.has("exclusiveMinimum");
        if (isOpenBelow) {
            return Math.min(1, upper(schema, 100, exclusiveBy));
        }
        double exclusive = schema.path("exclusiveMinimum").asDouble(Double.NEGATIVE_INFINITY) + exclusiveBy;
        return Math.max(schema.path("minimum").asDouble(Double.NEGATIVE_INFINITY), exclusive);
    }

    private static double upper(JsonNode schema, double otherwise, double exclusiveBy) {
        double exclusive = schema.path("exclusiveMaximum").asDouble(Double.POSITIVE_INFINITY) - exclusiveBy;
        double max = Math.min(schema.path("maximum").asDouble(Double.POSITIVE_INFINITY), exclusive);
        return Double.isInfinite(max) ? otherwise : max;
    }

    private String text(JsonNode schema) {
        return switch (schema.path("format").asText()) {
            case "date" -> "2026-01-" + (10 + random.nextInt(19));
            case "date-time" -> "2026-01-" + (10 + random.nextInt(19)) + "T12:00:00Z";
            case "time" -> "12:00:00Z";
            case "email" -> "user" + random.nextInt(100) + "@example.com";
            case "uri" -> "https://example.com/" + random.nextInt(100);
            case "uuid" -> "00000000-0000-4000-8000-" + String.format("%012d", random.nextInt(1_000_000));
            default ->
                word(schema.path("minLength").asInt(0), schema.path("maxLength").asInt(1 << 12));
        };
    }

    private String word(int minLength, int maxLength) {
        var text = new StringBuilder("value " + random.nextInt(100));
        while (text.length() < Math.min(minLength, 1 << 12)) {
            text.append(" and more");
        }
        return text.substring(0, Math.max(0, Math.min(text.length(), maxLength)));
    }

    private JsonNode resolve(String reference) {
        return reference.startsWith("#") ? root.at(reference.substring(1)) : NODES.objectNode();
    }
}

package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.api.http.Json;

/** Draws JSON schemas, most of which have values. */
public final class RandomSchema {
    private static final List<String> PATTERNS =
            List.of("^[a-z]{2,9}$", "[0-9]+", "^(x|yz)*$", "^\\d{3}-\\w+$", "^.{4}");
    private static final List<String> FORMATS = List.of("date", "email", "uuid", "uri", "ipv4", "date-time");

    private final UniformRandomProvider random;

    public RandomSchema(UniformRandomProvider random) {
        this.random = random;
    }

    public JsonNode draw() {
        var root = any(0);
        var definitions = Json.object();
        definitions.set("text", text());
        definitions.set("number", number());
        var tree = Json.object().put("type", "object");
        tree.putObject("properties")
                .putObject("kids")
                .put("type", "array")
                .putObject("items")
                .put("$ref", "#/$defs/tree");
        tree.putArray("required").add("kids");
        definitions.set("tree", tree);
        root.set("$defs", definitions);
        return root;
    }

    private ObjectNode any(int depth) {
        return switch (random.nextInt(depth > 3 ? 5 : 11)) {
            case 0 -> text();
            case 1 -> number();
            case 2 -> reference();
            case 3 -> listed();
            case 4 -> Json.object().put("type", random.nextBoolean() ? "boolean" : "null");
            case 5, 6 -> object(depth);
            case 7 -> array(depth);
            case 8 -> alternatives("anyOf", depth);
            case 9 -> merged(depth);
            default -> nullable(depth);
        };
    }

    private ObjectNode text() {
        var text = Json.object().put("type", "string");
        switch (random.nextInt(4)) {
            case 0 -> text.put("pattern", PATTERNS.get(random.nextInt(PATTERNS.size())));
            case 1 -> text.put("format", FORMATS.get(random.nextInt(FORMATS.size())));
            case 2 -> text.put("minLength", random.nextInt(30)).put("maxLength", 30 + random.nextInt(30));
            default -> text.put("description", "free");
        }
        return text;
    }

    private ObjectNode number() {
        boolean isInteger = random.nextBoolean();
        var number = Json.object().put("type", isInteger ? "integer" : "number");
        int from = random.nextInt(200) - 100;
        if (random.nextBoolean()) {
            number.put(random.nextBoolean() ? "minimum" : "exclusiveMinimum", from);
        }
        if (random.nextBoolean()) {
            number.put(random.nextBoolean() ? "maximum" : "exclusiveMaximum", from + 20 + random.nextInt(50));
        }
        if (random.nextInt(3) == 0) {
            number.put("multipleOf", isInteger ? 1 + random.nextInt(7) : 0.25 * (1 + random.nextInt(8)));
        }
        return number;
    }

    private ObjectNode reference() {
        String[] names = {"text", "number", "tree"};
        return Json.object().put("$ref", "#/$defs/" + names[random.nextInt(names.length)]);
    }

    private ObjectNode listed() {
        var listed = Json.object();
        if (random.nextBoolean()) {
            return listed.put("const", random.nextInt(5));
        }
        listed.putArray("enum").add("red").add("green").add(random.nextInt(9)).addNull();
        return listed;
    }

    private ObjectNode object(int depth) {
        var object = open(depth);
        switch (random.nextInt(6)) {
            case 0 -> object.put("additionalProperties", false);
            case 1 -> object.put("minProperties", 3).set("additionalProperties", any(depth + 1));
            case 2 -> object.put("maxProperties", 5);
            case 3 -> object.putObject("patternProperties").set("^q[0-9]$", any(depth + 1));
            case 4 -> object.putObject("dependentRequired").putArray("p0").add("p9");
            default -> object.put("title", "T");
        }
        return object;
    }

    private ObjectNode open(int depth) {
        var object = Json.object().put("type", "object");
        var properties = object.putObject("properties");
        var required = object.putArray("required");
        int numProperties = random.nextInt(5);
        for (int i = 0; i < numProperties; i++) {
            properties.set("p" + i, any(depth + 1));
            if (random.nextBoolean()) {
                required.add("p" + i);
            }
        }
        return object;
    }

    private ObjectNode array(int depth) {
        var array = Json.object().put("type", "array");
        array.set("items", any(depth + 1));
        switch (random.nextInt(4)) {
            case 0 -> array.put("minItems", random.nextInt(4)).put("maxItems", 4 + random.nextInt(4));
            case 1 -> array.put("uniqueItems", true);
            case 2 -> array.putArray("prefixItems").add(any(depth + 1)).add(any(depth + 1));
            default -> array.put("maxItems", random.nextInt(3));
        }
        return array;
    }

    private ObjectNode alternatives(String key, int depth) {
        var schema = Json.object();
        schema.putArray(key).add(any(depth + 1)).add(any(depth + 1)).add(any(depth + 1));
        return schema;
    }

    private ObjectNode merged(int depth) {
        var schema = Json.object();
        schema.putArray("allOf").add(open(depth + 1)).add(Json.object().put("minProperties", 1));
        var kinds = schema.putArray("oneOf");
        for (String kind : new String[] {"a", "b"}) {
            var option = kinds.addObject();
            option.putObject("properties").putObject("kind").put("const", kind);
            option.putArray("required").add("kind");
        }
        return schema;
    }

    private ObjectNode nullable(int depth) {
        var schema = random.nextBoolean() ? object(depth + 1) : array(depth + 1);
        String type = schema.get("type").asText();
        schema.putArray("type").add(type).add("null");
        return schema;
    }
}

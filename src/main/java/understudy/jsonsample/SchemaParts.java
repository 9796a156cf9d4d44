package understudy.jsonsample;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;

/**
 * Requirements of a schema on one value: its own keywords, those of the schemas that it refers to or merges, and of its
 * alternatives those that were drawn.
 */
final class SchemaParts {
    /** Values of an enumeration that are as much work as a schema. */
    private static final int VALUES_PER_STEP = 16;

    private static final int MAX_CHAIN = 200;
    private static final List<String> TYPES =
            List.of("string", "object", "array", "integer", "number", "boolean", "null");
    private static final List<List<String>> KEYWORDS_BY_TYPE = List.of(
            List.of("object", "properties", "required", "additionalProperties", "patternProperties", "minProperties"),
            List.of("array", "items", "prefixItems", "minItems", "contains", "uniqueItems", "maxItems"),
            List.of("number", "minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
            List.of("string", "pattern", "format", "minLength", "maxLength"),
            List.of("object", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas"));

    private final List<JsonNode> parts = new ArrayList<>();
    private final SchemaGraph graph;
    private final int room;
    private final boolean isBrief;
    private final UniformRandomProvider random;

    /**
     * Draws the parts of a schema.
     *
     * @param room how deep the value may be
     * @param isBrief whether to take the alternative that ends first
     */
    SchemaParts(SchemaGraph graph, JsonNode schema, int room, boolean isBrief, UniformRandomProvider random) {
        this.graph = graph;
        this.room = room;
        this.isBrief = isBrief;
        this.random = random;
        add(schema, 0);
    }

    private void add(JsonNode schema, int chain) {
        graph.count(1);
        if (chain > MAX_CHAIN) {
            throw graph.refusal("`$ref` leads back to itself, or too far.");
        }
        if (schema.isBoolean() && !schema.booleanValue()) {
            throw new NoSampleException("false", "");
        }
        parts.add(schema);
        if (schema.has("$ref")) {
            add(graph.resolve(schema.get("$ref")), chain + 1);
        }
        schema.path("allOf").forEach(part -> add(part, chain + 1));
        for (String key : List.of("anyOf", "oneOf")) {
            if (!schema.path(key).isEmpty()) {
                add(pick(schema.path(key), key), chain + 1);
            }
        }
        if (schema.has("if")) {
            boolean isThen = random.nextBoolean();
            add(schema.path(isThen ? "then" : "else"), chain + 1);
            if (isThen) {
                add(schema.get("if"), chain + 1);
            }
        }
    }

    private JsonNode pick(JsonNode alternatives, String key) {
        for (int depth = isBrief ? 0 : room; depth <= room; depth++) {
            var ending = new ArrayList<JsonNode>();
            for (var alternative : alternatives) {
                if (graph.ends(alternative, depth)) {
                    ending.add(alternative);
                }
            }
            if (!ending.isEmpty()) {
                return ending.get(random.nextInt(ending.size()));
            }
        }
        throw new NoSampleException(key, "");
    }

    /**
     * Adds what the schema asks for because a property is there, and returns the properties that are better left out.
     */
    Set<String> addDependencies(Set<String> present) {
        var avoided = new TreeSet<String>();
        for (var part : List.copyOf(parts)) {
            for (String key : List.of("dependentSchemas", "dependencies")) {
                part.path(key).properties().forEach(entry -> {
                    if (!present.contains(entry.getKey())) {
                        avoided.add(entry.getKey());
                    } else if (!entry.getValue().isArray()) {
                        add(entry.getValue(), 1);
                    }
                });
            }
        }
        return avoided;
    }

    /** Returns the types that a schema names, or else those that its keywords suggest, or else all. */
    static List<String> types(JsonNode schema) {
        var type = schema.path("type");
        if (type.isTextual()) {
            return List.of(type.textValue());
        }
        if (!type.isEmpty()) {
            var types = new ArrayList<String>();
            type.forEach(each -> types.add(each.asText()));
            return types;
        }
        for (var keywords : KEYWORDS_BY_TYPE) {
            if (keywords.subList(1, keywords.size()).stream().anyMatch(schema::has)) {
                return List.of(keywords.get(0));
            }
        }
        return TYPES;
    }

    /** Returns the types that all parts allow. */
    List<String> types() {
        var types = new ArrayList<>(TYPES);
        for (boolean isNamed : new boolean[] {true, false}) {
            for (var part : parts) {
                var allowed = new LinkedHashSet<>(part.has("type") == isNamed ? types(part) : TYPES);
                if (allowed.contains("number")) {
                    allowed.add("integer");
                }
                // A guess by keywords does not exclude what is named.
                if (isNamed || types.stream().anyMatch(allowed::contains)) {
                    types.retainAll(allowed);
                }
            }
        }
        for (var not : all("not")) {
            if (not.size() == 1 && not.has("type")) {
                types.removeAll(types(not));
            }
        }
        boolean isBoth = types.contains("number");
        if (isBoth) {
            types.remove("integer");
        }
        return types;
    }

    boolean areOpen() {
        return parts.stream().allMatch(part -> types(part).equals(TYPES) && !part.has("not"));
    }

    /** Returns the values that are allowed, if they are listed, or null. */
    @Nullable List<JsonNode> values() {
        Set<JsonNode> values = null;
        for (var part : parts) {
            var listed = new LinkedHashSet<JsonNode>();
            part.path("enum").forEach(listed::add);
            if (part.has("const")) {
                listed.add(part.get("const"));
            }
            graph.count(1 + listed.size() / VALUES_PER_STEP);
            if (!listed.isEmpty() && values != null) {
                values.retainAll(listed);
            } else if (!listed.isEmpty()) {
                values = listed;
            }
        }
        return values == null ? null : List.copyOf(values);
    }

    /** Returns the values of a keyword in all parts that have it. */
    List<JsonNode> all(String keyword) {
        return parts.stream()
                .filter(part -> part.has(keyword))
                .map(part -> part.get(keyword))
                .toList();
    }

    /** Returns a count that all parts agree to, within the range of whole numbers, or another one if none names it. */
    int count(String keyword, int otherwise, BinaryOperator<Integer> strictest) {
        return all(keyword).stream()
                .map(node -> (int) Math.max(-1, Math.min(Integer.MAX_VALUE, node.asDouble())))
                .reduce(strictest)
                .orElse(otherwise);
    }

    boolean has(String keyword) {
        return parts.stream().anyMatch(part -> part.has(keyword));
    }

    /** Returns the names in all values of a keyword that holds names, such as {@code required}, or named things. */
    Set<String> names(String keyword) {
        var names = new LinkedHashSet<String>();
        for (var node : all(keyword)) {
            graph.count(node.size());
            if (node.isObject()) {
                node.fieldNames().forEachRemaining(names::add);
            } else {
                node.forEach(name -> names.add(name.asText()));
            }
        }
        return names;
    }

    /** Returns the schema of a property, from all parts. */
    JsonNode property(String name) {
        graph.count(parts.size());
        var asked = new ArrayList<JsonNode>();
        for (var part : parts) {
            int before = asked.size();
            if (part.path("properties").has(name)) {
                asked.add(part.path("properties").get(name));
            }
            part.path("patternProperties").properties().forEach(entry -> {
                if (graph.matches(entry.getKey(), name)) {
                    asked.add(entry.getValue());
                }
            });
            if (asked.size() == before && part.has("additionalProperties")) {
                asked.add(part.get("additionalProperties"));
            }
        }
        return allOf(asked);
    }

    /** Returns the schema of an item, from all parts. */
    JsonNode item(int index) {
        graph.count(parts.size());
        var asked = new ArrayList<JsonNode>();
        for (var part : parts) {
            boolean isOld = part.path("items").isArray();
            var prefix = part.path(isOld ? "items" : "prefixItems");
            var rest = part.path(isOld ? "additionalItems" : "items");
            if (index < prefix.size()) {
                asked.add(prefix.get(index));
            } else if (!rest.isMissingNode()) {
                asked.add(rest);
            }
        }
        return allOf(asked);
    }

    /** Returns how many items have a schema of their own. */
    int numPrefixItems() {
        return parts.stream()
                .mapToInt(part -> Math.max(
                        part.path("prefixItems").size(),
                        part.path("items").isArray() ? part.path("items").size() : 0))
                .max()
                .orElse(0);
    }

    /** Returns a schema that asks for all that several ones do. */
    static JsonNode allOf(List<JsonNode> schemas) {
        if (schemas.size() == 1) {
            return schemas.get(0);
        }
        var all = JsonNodeFactory.instance.objectNode();
        all.putArray("allOf").addAll(schemas);
        return schemas.isEmpty() ? JsonNodeFactory.instance.objectNode() : all;
    }
}

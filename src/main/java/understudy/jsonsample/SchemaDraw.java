package understudy.jsonsample;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.rng.UniformRandomProvider;

/**
 * One attempt to make up a value for a schema. Keywords that are not looked at here, such as {@code not}, are left to
 * luck and to the validator.
 */
final class SchemaDraw {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final int BRIEF_FROM_DEPTH = 6;
    private static final int BRIEF_FROM_VALUES = 500;
    private static final int MAX_VALUES = 5_000;
    private static final int MAX_ITEMS = 1000;
    private static final int MAX_OPTIONAL = 100;
    private static final int NUM_TRIES = 20;
    private static final Set<String> SCALARS = Set.of("string", "integer", "number", "boolean", "null");

    private final SchemaGraph graph;
    private final UniformRandomProvider random;
    private final int attempt;
    private int numValues;

    /**
     * Creates an attempt.
     *
     * @param attempt counts from 0; the first one gives all properties, later ones leave some out
     */
    SchemaDraw(SchemaGraph graph, UniformRandomProvider random, int attempt) {
        this.graph = graph;
        this.random = random;
        this.attempt = attempt;
    }

    /** Returns a value of the schema, or throws {@link NoSampleException}. */
    JsonNode draw(JsonNode schema, int depth) {
        if (++numValues > MAX_VALUES) {
            throw graph.refusal("its values have more than " + MAX_VALUES + " parts.");
        }
        if (room(depth) < 0) {
            throw new NoSampleException("$ref", "its values are nested too deeply");
        }
        var parts = new SchemaParts(graph, schema, room(depth), isBrief(depth), random);
        var values = parts.values();
        if (values != null) {
            return pick(values, "enum");
        }
        return ofType(type(parts, depth), parts, depth);
    }

    private JsonNode ofType(String type, SchemaParts parts, int depth) {
        return switch (type) {
            case "object" -> parts.areOpen() ? anything() : object(parts, depth);
            case "array" -> array(parts, depth);
            case "integer" -> NumberDraw.draw(parts, true, attempt, random);
            case "number" -> NumberDraw.draw(parts, false, attempt, random);
            case "boolean" -> NODES.booleanNode(random.nextBoolean());
            case "null" -> NODES.nullNode();
            default -> NODES.textNode(TextDraw.draw(parts, attempt, random));
        };
    }

    /** Null comes less often than a value, and what may be anything is an object, or a text within one. */
    private String type(SchemaParts parts, int depth) {
        if (parts.areOpen()) {
            return depth == 0 ? "object" : "string";
        }
        var types = parts.types();
        boolean isBrief = isBrief(depth) && types.stream().anyMatch(SCALARS::contains);
        types.removeIf(type -> isBrief && !SCALARS.contains(type));
        if (types.size() > 1 && random.nextInt(4) > 0) {
            types.remove("null");
        }
        return pick(types, "type");
    }

    private ObjectNode anything() {
        return NODES.objectNode()
                .put("answer", "value " + random.nextInt(100))
                .put("score", random.nextInt(100))
                .put("done", random.nextBoolean());
    }

    /** The required properties come first, as small models like to do; deep down there are no others. */
    private ObjectNode object(SchemaParts parts, int depth) {
        var required = parts.names("required");
        var avoided = parts.addDependencies(required);
        required.addAll(parts.names("required"));
        var object = NODES.objectNode();
        required.forEach(name -> object.set(name, draw(parts.property(name), depth + 1)));
        int min = parts.count("minProperties", 0, Math::max);
        int max = parts.count("maxProperties", MAX_ITEMS, Math::min);
        for (String name : parts.names("properties")) {
            boolean isWanted = object.size() < min || (attempt == 0 || random.nextBoolean());
            if (isWanted && object.size() < Math.min(max, MAX_OPTIONAL) && !avoided.contains(name)) {
                addOptional(object, name, parts, depth);
            }
        }
        boolean isMap = object.isEmpty() && !parts.has("properties") && parts.has("additionalProperties");
        addMore(object, isMap && !isBrief(depth) ? Math.max(min, Math.min(max, 2)) : min, min, parts, depth);
        addDependents(object, parts, depth);
        return object;
    }

    private void addOptional(ObjectNode object, String name, SchemaParts parts, int depth) {
        var schema = parts.property(name);
        if (object.has(name) || isBrief(depth) || !graph.ends(schema, room(depth + 1))) {
            return;
        }
        try {
            object.set(name, draw(schema, depth + 1));
        } catch (NoSampleException e) {
            // It may as well be absent.
            return;
        }
    }

    /** Adds properties that have no name of their own in the schema. */
    private void addMore(ObjectNode object, int size, int min, SchemaParts parts, int depth) {
        if (min > MAX_ITEMS) {
            throw new NoSampleException("minProperties", "at most " + MAX_ITEMS + " are supported");
        }
        try {
            for (int tries = 0; object.size() < size && tries < size + NUM_TRIES; tries++) {
                String name = name(parts, tries);
                if (!object.has(name)) {
                    object.set(name, draw(parts.property(name), depth + 1));
                }
            }
        } catch (NoSampleException e) {
            if (object.size() < min) {
                throw e;
            }
        }
    }

    private String name(SchemaParts parts, int index) {
        if (parts.has("propertyNames")) {
            return text(SchemaParts.allOf(parts.all("propertyNames")));
        }
        var patterns = List.copyOf(parts.names("patternProperties"));
        return patterns.isEmpty()
                ? "key" + index
                : TextDraw.ofPattern(patterns.get(index % patterns.size()), 0, TextDraw.MAX_LENGTH, random);
    }

    /** Returns a text, which is what all names are, even if their schema does not say so. */
    private String text(JsonNode schema) {
        return draw(SchemaParts.allOf(List.of(NODES.objectNode().put("type", "string"), schema)), 1)
                .asText();
    }

    private void addDependents(ObjectNode object, SchemaParts parts, int depth) {
        for (int before = -1; before < object.size(); ) {
            before = object.size();
            for (String key : List.of("dependentRequired", "dependencies")) {
                for (var dependents : parts.all(key)) {
                    dependents.properties().forEach(entry -> addDependents(object, entry, parts, depth));
                }
            }
        }
    }

    private void addDependents(ObjectNode object, Map.Entry<String, JsonNode> entry, SchemaParts parts, int depth) {
        graph.count(1);
        if (!object.has(entry.getKey()) || !entry.getValue().isArray()) {
            return;
        }
        for (var name : entry.getValue()) {
            if (!object.has(name.asText())) {
                object.set(name.asText(), draw(parts.property(name.asText()), depth + 1));
            }
        }
    }

    private JsonNode array(SchemaParts parts, int depth) {
        var contains = parts.all("contains");
        int numContained = contains.isEmpty() ? 0 : parts.count("minContains", 1, Math::max);
        int min = Math.max(parts.count("minItems", 0, Math::max), numContained);
        int max = parts.count("maxItems", MAX_ITEMS, Math::min);
        if (min > Math.min(max, MAX_ITEMS)) {
            throw new NoSampleException("minItems", "at most " + Math.min(max, MAX_ITEMS) + " are possible");
        }
        int numPrefix = parts.numPrefixItems();
        int size = Math.min(max, isBrief(depth) ? min : Math.max(min, numPrefix + more(parts, depth)));
        boolean isUnique = parts.all("uniqueItems").stream().anyMatch(JsonNode::asBoolean);
        int containedFrom = Math.min(numPrefix, size - numContained);
        var items = new ArrayList<JsonNode>();
        try {
            for (int i = 0; i < size; i++) {
                boolean isContained = i >= containedFrom && i < containedFrom + numContained;
                var schema = isContained
                        ? SchemaParts.allOf(List.of(parts.item(i), SchemaParts.allOf(contains)))
                        : parts.item(i);
                items.add(item(schema, isUnique ? items : List.of(), depth + 1));
            }
        } catch (NoSampleException e) {
            if (items.size() < min) {
                throw e;
            }
        }
        return NODES.arrayNode().addAll(items);
    }

    /** Returns how many items there are that need not be there. */
    private int more(SchemaParts parts, int depth) {
        boolean ends = graph.ends(parts.item(parts.numPrefixItems()), room(depth + 1));
        if (!ends) {
            return 0;
        }
        int least = parts.numPrefixItems() > 0 || parts.has("minItems") ? 0 : 1;
        return parts.count("minItems", 0, Math::max) + least + random.nextInt(depth < 3 ? 3 : 1);
    }

    private JsonNode item(JsonNode schema, List<JsonNode> others, int depth) {
        for (int i = 0; i < NUM_TRIES; i++) {
            var item = draw(schema, depth);
            if (!others.contains(item)) {
                return item;
            }
        }
        throw new NoSampleException("uniqueItems", "");
    }

    private <T> T pick(List<T> list, String keyword) {
        if (list.isEmpty()) {
            throw new NoSampleException(keyword, "");
        }
        return list.get(random.nextInt(list.size()));
    }

    private boolean isBrief(int depth) {
        return depth >= BRIEF_FROM_DEPTH || numValues > BRIEF_FROM_VALUES;
    }

    private static int room(int depth) {
        return SchemaGraph.MAX_ROOM - depth;
    }
}

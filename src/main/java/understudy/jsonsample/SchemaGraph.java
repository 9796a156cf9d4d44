package understudy.jsonsample;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.regex.RegularExpression;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * JSON schema with its references and its budget of work: every walk along a schema counts its steps here, as a few
 * lines with shared references can stand for a tree without an end.
 */
final class SchemaGraph {
    /** Greatest depth of a value. */
    static final int MAX_ROOM = 48;

    private static final int MAX_STEPS = 200_000;
    private static final int MAX_RECURSION = 500;
    private static final Set<String> SCALARS = Set.of("string", "integer", "number", "boolean", "null");

    private final JsonNode root;
    private final String path;
    private final BoundedPatterns patterns;
    private final Map<String, RegularExpression> compiled = new HashMap<>();
    private final IdentityHashMap<JsonNode, Known> known = new IdentityHashMap<>();
    private int numSteps;
    private int recursion;

    /** Knowledge about the values of a schema: how deep they must be, and where the question is open just now. */
    private static final class Known {
        private int endsWithin = Integer.MAX_VALUE;
        private int doesNotEndWithin = -1;
        private int openFor = -1;
    }

    /**
     * Creates a graph.
     *
     * @param path the field with the schema, for messages
     * @param patterns how its patterns are matched
     */
    SchemaGraph(JsonNode root, String path, BoundedPatterns patterns) {
        this.patterns = patterns;
        this.root = root;
        this.path = path;
    }

    JsonNode root() {
        return root;
    }

    RefusedSchemaException refusal(String problem) {
        return new RefusedSchemaException("Failed to transform json schema into a grammar: " + problem, path);
    }

    /** Counts work, and refuses schemas that cause too much. */
    void count(int steps) {
        numSteps += steps;
        if (numSteps > MAX_STEPS) {
            throw refusal("the schema is too complex.");
        }
    }

    boolean matches(String pattern, String text) {
        return compiled.computeIfAbsent(pattern, patterns::getRegularExpression).matches(text);
    }

    /** Returns the schema that a reference refers to. */
    JsonNode resolve(JsonNode reference) {
        String text = reference.asText();
        if (!text.equals("#") && !text.startsWith("#/")) {
            throw refusal("`$ref` must be a JSON pointer into the schema, such as #/$defs/name, got " + text);
        }
        var target = root.at(pointer(text));
        if (target.isMissingNode()) {
            throw refusal("unresolvable `$ref` " + text);
        }
        return target;
    }

    private JsonPointer pointer(String reference) {
        try {
            // A plus sign is no blank here.
            String text = URLDecoder.decode(reference.substring(1).replace("+", "%2B"), StandardCharsets.UTF_8);
            return JsonPointer.compile(text);
        } catch (IllegalArgumentException e) {
            throw refusal("unresolvable `$ref` " + reference);
        }
    }

    /**
     * Returns whether the schema has values that are at most so deep; refuses references that lead back to themselves.
     */
    boolean ends(JsonNode schema, int room) {
        count(1);
        if (!schema.isObject()) {
            return !schema.isBoolean() || schema.booleanValue();
        }
        var facts = known.computeIfAbsent(schema, node -> new Known());
        if (room >= facts.endsWithin || room <= facts.doesNotEndWithin) {
            return room >= facts.endsWithin;
        }
        if (facts.openFor == room || ++recursion > MAX_RECURSION) {
            throw refusal("`$ref` leads back to itself, or too far.");
        }
        int before = facts.openFor;
        facts.openFor = room;
        boolean ends = alternativesEnd(schema, room) && ownValuesEnd(schema, room);
        facts.openFor = before;
        recursion--;
        if (ends) {
            facts.endsWithin = room;
        } else {
            facts.doesNotEndWithin = room;
        }
        return ends;
    }

    private boolean alternativesEnd(JsonNode schema, int room) {
        boolean ends = !schema.has("$ref") || ends(resolve(schema.get("$ref")), room);
        for (var part : schema.path("allOf")) {
            ends &= ends(part, room);
        }
        for (String key : List.of("anyOf", "oneOf")) {
            boolean isAny = schema.path(key).isEmpty();
            for (var part : schema.path(key)) {
                isAny |= ends(part, room);
            }
            ends &= isAny;
        }
        return ends;
    }

    private boolean ownValuesEnd(JsonNode schema, int room) {
        if (schema.has("const") || schema.has("enum")) {
            return true;
        }
        for (String type : SchemaParts.types(schema)) {
            if (SCALARS.contains(type)
                    || (type.equals("array") && itemsEnd(schema, room - 1))
                    || (type.equals("object") && propertiesEnd(schema, room - 1))) {
                return true;
            }
        }
        return false;
    }

    private boolean itemsEnd(JsonNode schema, int room) {
        boolean mayBeEmpty = schema.path("minItems").asInt(0) <= 0 && !schema.has("contains");
        return mayBeEmpty || (room >= 0 && requiredItemsEnd(schema, room));
    }

    private boolean requiredItemsEnd(JsonNode schema, int room) {
        int min = schema.path("minItems").asInt(0);
        int numPrefix = Math.min(min, schema.path("prefixItems").size());
        for (int i = 0; i < numPrefix; i++) {
            if (!ends(schema.path("prefixItems").get(i), room)) {
                return false;
            }
        }
        var items = schema.path("items");
        boolean needsItems = min > numPrefix && !items.isArray();
        return (!needsItems || ends(items, room)) && ends(schema.path("contains"), room);
    }

    private boolean propertiesEnd(JsonNode schema, int room) {
        for (var name : schema.path("required")) {
            var property = schema.path("properties").path(name.asText());
            if (room < 0 || !ends(property.isMissingNode() ? schema.path("additionalProperties") : property, room)) {
                return false;
            }
        }
        return true;
    }
}

package understudy.jsonsample;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import java.util.List;

/**
 * Upper bound on the steps of a validator, found by walking its longest way: a validator has no limit of its own, and
 * alternatives within shared references double its way with every level.
 */
record SchemaCost(SchemaGraph graph) {
    private static final int MAX_DEPTH = 300;
    private static final List<String> LISTS = List.of("allOf", "anyOf", "oneOf");
    private static final List<String> SINGLES = List.of("not", "if", "then", "else");
    private static final List<String> NAMED = List.of("dependentSchemas", "dependencies");
    private static final List<String> OF_ALL_CHILDREN = List.of(
            "additionalProperties",
            "items",
            "additionalItems",
            "contains",
            "unevaluatedItems",
            "unevaluatedProperties");

    /** Refuses the schema if checking the value would take too long. */
    void requireBounded(JsonNode value) {
        visit(graph.root(), value, 0);
    }

    private void visit(JsonNode schema, JsonNode value, int depth) {
        graph.count(1);
        if (!schema.isObject()) {
            return;
        }
        if (depth > MAX_DEPTH) {
            throw graph.refusal("the schema is nested too deeply.");
        }
        if (schema.has("$ref")) {
            visit(graph.resolve(schema.get("$ref")), value, depth + 1);
        }
        LISTS.forEach(key -> schema.path(key).forEach(part -> visit(part, value, depth + 1)));
        SINGLES.forEach(key -> visit(schema.path(key), value, depth + 1));
        NAMED.forEach(key -> schema.path(key).forEach(part -> visit(part, value, depth + 1)));
        value.properties().forEach(entry -> {
            visit(schema.path("properties").path(entry.getKey()), entry.getValue(), depth + 1);
            visit(schema.path("propertyNames"), NullNode.getInstance(), depth + 1);
            schema.path("patternProperties").forEach(part -> visit(part, entry.getValue(), depth + 1));
        });
        int index = 0;
        for (var child : value) {
            visit(schema.path("prefixItems").path(index), child, depth + 1);
            visit(schema.path("items").path(index), child, depth + 1);
            index++;
            OF_ALL_CHILDREN.forEach(key -> visit(schema.path(key), child, depth + 1));
        }
    }
}

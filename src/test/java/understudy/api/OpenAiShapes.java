package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Answers as OpenAI describes them: a strict JSON schema for each kind, in which nothing of vLLM's is allowed for. */
final class OpenAiShapes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final SchemaRegistry REGISTRY =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

    private final Map<String, Schema> schemas = new HashMap<>();

    OpenAiShapes() {
        for (String file : List.of("completions.json", "responses.json")) {
            var definitions = read(file).get("$defs");
            definitions.fieldNames().forEachRemaining(name -> schemas.put(name, schema(name, definitions)));
        }
    }

    private static Schema schema(String name, JsonNode definitions) {
        var root = JSON.createObjectNode().put("$ref", "#/$defs/" + name.replace(" ", "%20"));
        root.set("$defs", definitions);
        return REGISTRY.getSchema(root);
    }

    /** Reads a file of this test's resources. */
    static JsonNode read(String file) {
        try (var stream = OpenAiShapes.class.getResourceAsStream("shapes/" + file)) {
            return JSON.readTree(stream);
        } catch (IOException e) {
            throw new AssertionError(file, e);
        }
    }

    /**
     * What is wrong with an answer.
     *
     * @param at a JSON pointer, with a star for each index
     * @param problem such as {@code is missing}, {@code is null} or {@code is extra}, or a keyword of JSON Schema
     */
    record Violation(String shape, String at, String problem) {}

    /** Returns what is wrong with an answer of a kind. */
    List<Violation> violations(String shape, JsonNode answer) {
        var schema = schemas.get(shape);
        if (schema == null) {
            return List.of(new Violation(shape, "", "is unknown"));
        }
        var violations = new ArrayList<Violation>();
        schema.validate(answer).forEach(error -> violations.add(violation(shape, error)));
        return violations;
    }

    private static Violation violation(String shape, com.networknt.schema.Error error) {
        String at = error.getInstanceLocation().toString().replaceAll("/\\d+(?=/|$)", "/*");
        return switch (error.getKeyword()) {
            case "required" -> new Violation(shape, at + "/" + error.getProperty(), "is missing");
            case "additionalProperties" -> new Violation(shape, at + "/" + error.getProperty(), "is extra");
            case "type", "enum", "const" -> new Violation(shape, at, "is " + found(error));
            default -> new Violation(shape, at, error.getKeyword() + ": " + error.getMessage());
        };
    }

    /** Returns the kind of a value of the wrong kind, or else the value. */
    private static String found(com.networknt.schema.Error error) {
        var node = error.getInstanceNode();
        boolean isOfWrongKind = error.getKeyword().equals("type") || node.isNull();
        if (!isOfWrongKind) {
            return node.toString();
        }
        return node.isInt() ? "integer" : node.getNodeType().name().toLowerCase(Locale.ROOT);
    }
}

package understudy.jsonsample;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.commons.rng.UniformRandomProvider;

/**
 * Makes up JSON for a schema: draws values until a validator accepts one. A schema for which a few attempts find none
 * is refused, and so is one that would take too much work. For one call, on one thread.
 */
public final class SchemaSample {
    private static final Pattern EXCEPTION_NAME = Pattern.compile("^([a-z]\\w*\\.)+[A-Z]\\w*: ");

    /** Keywords whose values are no schemas. */
    private static final Set<String> VALUES = Set.of("const", "default", "enum", "example", "examples");

    private static final int NUM_ATTEMPTS = 64;

    private final SchemaGraph graph;
    private final SchemaCost cost;
    private final Schema schema;

    /**
     * Reads a schema; refuses what is none.
     *
     * @param path the field with the schema, for messages
     */
    public SchemaSample(JsonNode root, String path) {
        var patterns = new BoundedPatterns();
        requirePositiveSteps(root, path);
        graph = new SchemaGraph(root, path, patterns);
        cost = new SchemaCost(graph);
        schema = compile(root, path, patterns);
    }

    /** Refuses a {@code multipleOf} that is not above 0, which the validator takes. */
    private static void requirePositiveSteps(JsonNode schema, String path) {
        var step = schema.get("multipleOf");
        if (step != null && step.isNumber() && step.decimalValue().signum() <= 0) {
            throw new RefusedSchemaException(
                    "Invalid JSON schema: multipleOf must be greater than 0, got " + step, path);
        }
        for (var entry : schema.properties()) {
            if (!VALUES.contains(entry.getKey())) {
                requirePositiveSteps(entry.getValue(), path);
            }
        }
        if (schema.isArray()) {
            schema.forEach(part -> requirePositiveSteps(part, path));
        }
    }

    /** Returns a validator; refuses what is not a schema. */
    public static Schema compile(JsonNode root, String path, BoundedPatterns patterns) {
        var config = SchemaRegistryConfig.builder()
                .regularExpressionFactory(patterns)
                .formatAssertionsEnabled(true)
                .build();
        try {
            return SchemaRegistry.withDefaultDialect(
                            SpecificationVersion.DRAFT_2020_12, registry -> registry.schemaRegistryConfig(config))
                    .getSchema(root);
        } catch (SchemaException | IllegalArgumentException e) {
            throw new RefusedSchemaException("Invalid JSON schema: " + reason(e), path);
        } catch (StackOverflowError e) {
            // The validator follows references as far as they lead.
            throw new RefusedSchemaException("Invalid JSON schema: it is nested too deeply", path);
        }
    }

    /** Returns the reason of a failure in one line, without the names of Java's exceptions. */
    private static String reason(RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof PatternSyntaxException pattern) {
                return "`" + pattern.getPattern() + "` is no regular expression: " + pattern.getDescription();
            }
        }
        String line = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        return EXCEPTION_NAME.matcher(line).replaceFirst("");
    }

    /** Returns one of the many values that the schema accepts. */
    public JsonNode sample(UniformRandomProvider random) {
        if (!graph.ends(graph.root(), SchemaGraph.MAX_ROOM)) {
            throw graph.refusal("the schema has no finite value.");
        }
        String problem = "";
        for (int attempt = 0; attempt < NUM_ATTEMPTS; attempt++) {
            try {
                var value = new SchemaDraw(graph, random, attempt).draw(graph.root(), 0);
                cost.requireBounded(value);
                var errors = schema.validate(value);
                if (errors.isEmpty()) {
                    return value;
                }
                var error = errors.get(0);
                problem = "`" + error.getKeyword() + "` cannot be satisfied, at '" + error.getInstanceLocation() + "'";
            } catch (NoSampleException e) {
                problem = e.getMessage();
            } catch (RefusedSchemaException e) {
                throw e;
            } catch (RuntimeException | StackOverflowError e) {
                // The validator does not expect all that may stand in a schema.
                throw graph.refusal("the schema cannot be followed.");
            }
        }
        throw graph.refusal(problem + ".");
    }
}

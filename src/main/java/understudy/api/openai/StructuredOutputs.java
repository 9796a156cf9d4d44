package understudy.api.openai;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.api.call.GenerationParams;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.jsonsample.Constraint;
import understudy.jsonsample.RegexText;
import understudy.jsonsample.SchemaSample;

/**
 * Reads vLLM's field {@code structured_outputs}, and what {@code response_format} makes of it ({@code
 * StructuredOutputsParams} in vLLM's {@code sampling_params.py}). Grammars and structural tags are refused: there is
 * nothing here that follows them.
 */
public final class StructuredOutputs {
    private static final String FIELD = "structured_outputs";
    private static final List<String> KINDS =
            List.of("json", "regex", "choice", "grammar", "json_object", "structural_tag");
    private static final List<String> OLD_KINDS = List.of("json", "regex", "choice");

    private StructuredOutputs() {}

    /** Returns the form that the answer of a completion must have, or null if it is text. */
    public static @Nullable Constraint read(JsonBody body) {
        return read(body, FIELD);
    }

    /** Returns the form that the answer of a chat must have, or null if it is text. */
    public static @Nullable Constraint readChat(JsonBody body) {
        var choice = body.get("tool_choice");
        boolean isForced = choice != null && !List.of("none", "auto").contains(choice.asText());
        var constraint = read(body, null);
        if (isForced && !given(body.object(FIELD), OLD_KINDS).isEmpty()) {
            throw ApiException.badRequest(
                    "You can only either use constraints for structured outputs or tools, not both.", null);
        }
        return constraint;
    }

    /** Returns the form that the text of a response must have, or null if it may be any. */
    public static @Nullable Constraint readResponse(JsonBody body) {
        var ofFormat = GenerationParams.schema(body.object("text").object("format"), "text.format");
        if (body.get(FIELD) == null) {
            return ofFormat;
        }
        if (ofFormat != null) {
            throw ApiException.badRequest("Cannot specify both structured_outputs and text.format", FIELD);
        }
        return read(body.without("response_format"), FIELD);
    }

    private static @Nullable Constraint read(JsonBody body, @Nullable String param) {
        var outputs = body.object(FIELD);
        if (given(outputs, OLD_KINDS).size() > 1) {
            throw ApiException.badRequest(
                    "You can only use one kind of constraints for structured outputs ('json', 'regex' or 'choice').",
                    param);
        }
        var format = body.object("response_format");
        if ("json_schema".equals(format.text("type")) && format.get("json_schema") == null) {
            throw ApiException.parameter(
                    "When response_format type is 'json_schema', the 'json_schema' field must be provided.",
                    "response_format");
        }
        var ofFormat = GenerationParams.schema(format, "response_format");
        if (body.get(FIELD) == null) {
            return ofFormat;
        }
        String replaced = replaced(format.text("type"));
        var kinds = Stream.concat(given(outputs, KINDS).stream(), Stream.ofNullable(replaced))
                .distinct()
                .toList();
        requireOne(kinds);
        return ofFormat == null ? constraint(outputs, kinds.get(0)) : ofFormat;
    }

    private static List<String> given(JsonBody outputs, List<String> kinds) {
        return kinds.stream().filter(kind -> outputs.get(kind) != null).toList();
    }

    /** Returns the kind of constraint that a type of {@code response_format} stands for. */
    private static @Nullable String replaced(@Nullable String type) {
        return "json_schema".equals(type) ? "json" : "json_object".equals(type) ? type : null;
    }

    private static void requireOne(List<String> kinds) {
        if (kinds.size() > 1) {
            throw ApiException.badRequest(
                    "You can only use one kind of structured outputs constraint but multiple are specified: " + kinds,
                    FIELD);
        }
        if (kinds.isEmpty()) {
            throw ApiException.badRequest(
                    "You must use one kind of structured outputs constraint but none are specified: one of " + KINDS,
                    FIELD);
        }
    }

    private static Constraint constraint(JsonBody outputs, String kind) {
        return switch (kind) {
            case "json" -> json(outputs);
            case "regex" -> regex(outputs);
            case "choice" -> choice(outputs);
            case "json_object" -> jsonObject(outputs);
            default -> throw unsupported(outputs, kind);
        };
    }

    private static Constraint json(JsonBody outputs) {
        JsonNode schema = outputs.require("json");
        if (schema.isTextual()) {
            schema = parsed(schema.textValue());
        } else if (!schema.isObject()) {
            throw ApiException.invalid("Input should be a valid string or dictionary", outputs.at("json"));
        }
        return Constraint.json(new SchemaSample(schema, FIELD));
    }

    private static JsonNode parsed(String schema) {
        if (schema.isBlank()) {
            throw ApiException.badRequest("structured_outputs.json cannot be an empty string", FIELD);
        }
        try {
            var node = Json.read(schema);
            if (node.isObject() || node.isBoolean()) {
                return node;
            }
        } catch (IllegalArgumentException e) {
            throw ApiException.badRequest("Invalid JSON grammar specification.", FIELD);
        }
        throw ApiException.badRequest("Invalid JSON grammar specification.", FIELD);
    }

    private static Constraint regex(JsonBody outputs) {
        String pattern = String.valueOf(outputs.text("regex"));
        try {
            var texts = new RegexText(pattern);
            return random -> texts.sample(random, 0, RegexText.MAX_LENGTH);
        } catch (IllegalArgumentException e) {
            throw ApiException.badRequest(
                    "Failed to transform regex into a grammar: " + e.getMessage() + ": " + pattern, FIELD);
        }
    }

    private static Constraint choice(JsonBody outputs) {
        if (!outputs.require("choice").isArray()) {
            throw ApiException.invalid("Input should be a valid list", outputs.at("choice"));
        }
        var choices = outputs.texts("choice");
        if (choices.isEmpty()) {
            throw ApiException.badRequest("Choice '[]' cannot be an empty list", FIELD);
        }
        return random -> choices.get(random.nextInt(choices.size()));
    }

    private static Constraint jsonObject(JsonBody outputs) {
        if (!outputs.bool("json_object", true)) {
            throw ApiException.badRequest(
                    "structured_outputs.json_object must be True if set; omit structured_outputs to disable structured"
                            + " outputs",
                    FIELD);
        }
        return Constraint.jsonObject();
    }

    private static ApiException unsupported(JsonBody outputs, String kind) {
        String value = outputs.text(kind);
        if (kind.equals("grammar") && String.valueOf(value).isBlank()) {
            return ApiException.badRequest("structured_outputs.grammar cannot be an empty string", FIELD);
        }
        return ApiException.badRequest(
                "structured_outputs." + kind + " is not supported here; use json, json_object, regex or choice", FIELD);
    }
}

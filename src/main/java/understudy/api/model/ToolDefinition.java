package understudy.api.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.jsonsample.BoundedPatterns;
import understudy.jsonsample.SchemaSample;

/**
 * A function that the model may call.
 *
 * @param schema JSON schema of its arguments
 */
public record ToolDefinition(String name, JsonNode schema) {

    /** Reads the field {@code tools}. */
    public static List<ToolDefinition> readAll(JsonBody body) {
        var tools = new ArrayList<ToolDefinition>();
        for (var tool : body.objects("tools")) {
            // Chat completions nest the function, the Responses API does not.
            var function = tool.get("function") == null ? tool : tool.object("function");
            String name = function.text("name");
            if (name == null) {
                throw ApiException.invalid("Field required", function.at("name"));
            }
            var schema = function.object("parameters").node();
            requireSchema(schema, function.at("parameters"));
            tools.add(new ToolDefinition(name, schema));
        }
        return tools;
    }

    /** Refuses JSON that is not a schema. */
    public static void requireSchema(JsonNode schema, String path) {
        SchemaSample.compile(schema, path, new BoundedPatterns());
    }

    /** Returns the sampler of arguments; a function without parameters takes an empty object. */
    public SchemaSample arguments() {
        var none = Json.object().put("type", "object");
        return new SchemaSample(schema.isEmpty() ? none : schema, "tools");
    }
}

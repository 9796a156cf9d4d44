package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import understudy.api.http.Json;

/** A request of the files beside the schemas, and the way in which its answer is wanted. */
record ShapeRequest(String name, String path, Mode mode, JsonNode body, List<String> headers, int status) {
    static final String RESPONSES = "/v1/responses";
    private static final String WEATHER = """
            {"name": "weather", "description": "Tells the weather", "strict": false, "parameters": {"type": "object",
             "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"]}}""";

    /** How an answer comes. */
    enum Mode {
        WHOLE("{}"),
        STREAMED("{\"stream\": true}"),
        WITH_USAGE("{\"stream\": true, \"stream_options\": {\"include_usage\": true}}"),
        WITH_CONTINUOUS_USAGE("{\"stream\": true, \"stream_options\": {\"include_usage\": true,"
                + " \"continuous_usage_stats\": true}}");

        private final String fields;

        Mode(String fields) {
            this.fields = fields;
        }
    }

    /** Returns each request of the file, in all ways that its API has. */
    static List<ShapeRequest> all() {
        var all = new ArrayList<ShapeRequest>();
        for (var mode : Mode.values()) {
            OpenAiShapes.read("requests.json").properties().forEach(api -> {
                boolean hasMode = !api.getKey().equals(RESPONSES) || mode == Mode.WHOLE || mode == Mode.STREAMED;
                if (hasMode) {
                    all.addAll(ofApi(api.getKey(), mode, api.getValue()));
                }
            });
        }
        return all;
    }

    private static List<ShapeRequest> ofApi(String path, Mode mode, JsonNode requests) {
        var all = new ArrayList<ShapeRequest>();
        requests.properties().forEach(request -> {
            if (!request.getKey().equals("common")) {
                ObjectNode body = requests.get("common").deepCopy();
                body.setAll((ObjectNode) request.getValue());
                body.setAll((ObjectNode) Json.read(mode.fields));
                if (body.has("tools")) {
                    body.set("tools", Json.array().add(tool(path)));
                }
                all.add(new ShapeRequest(request.getKey(), path, mode, body, List.of(), 200));
            }
        });
        return all;
    }

    /** Chat completions nest the function, the Responses API does not. */
    private static ObjectNode tool(String path) {
        var function = (ObjectNode) Json.read(WEATHER);
        if (path.equals(RESPONSES)) {
            return function.put("type", "function");
        }
        var tool = Json.object().put("type", "function");
        tool.set("function", function);
        return tool;
    }

    /** Returns the requests that are answered by an error. */
    static List<ShapeRequest> errors() {
        var all = new ArrayList<ShapeRequest>();
        OpenAiShapes.read("errors.json").properties().forEach(entry -> {
            var error = entry.getValue();
            var headers = new ArrayList<String>();
            error.path("headers").forEach(each -> headers.add(each.asText()));
            int status = error.get("status").asInt();
            all.add(new ShapeRequest(
                    entry.getKey(), error.get("path").asText(), Mode.WHOLE, error.get("body"), headers, status));
        });
        return all;
    }

    /** Returns the name of the schema of a whole answer, or of a piece of a streamed one. */
    String shape(JsonNode piece) {
        if (status != 200 || (piece.has("error") && !piece.has("object"))) {
            return "error body";
        }
        if (path.equals(RESPONSES)) {
            return mode == Mode.WHOLE ? "response" : piece.path("type").asText();
        }
        boolean isCompletionChunk = path.equals("/v1/completions") && mode != Mode.WHOLE;
        return piece.path("object").asText() + (isCompletionChunk ? ".chunk" : "");
    }

    @Override
    public String toString() {
        return path + ", " + mode + ": " + name;
    }
}

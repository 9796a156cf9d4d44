package understudy.api.dev;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiSettings;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;

/** Routes that tell what endpoints there are: {@code /openapi.json} for programs, and a page without any network. */
public final class DocsRoutes implements RoutePart {
    private static final List<Endpoint> ENDPOINTS = read("""
        POST /v1/chat/completions        Create Chat Completion
        POST /v1/completions             Create Completion
        POST /v1/chat/completions/render Render Chat Completion
        POST /v1/completions/render      Render Completion
        POST /v1/chat/completions/batch  Create Batch Chat Completion
        POST /inference/v1/generate      Generate
        POST /v1/responses               Create Responses
        GET  /v1/responses/{response_id} Retrieve Responses
        POST /v1/responses/{response_id}/cancel Cancel Responses
        POST /v1/messages                Create Messages
        POST /v1/messages/count_tokens   Count Tokens
        GET  /v1/models                  Show Available Models
        POST /v1/load_lora_adapter       Load Lora Adapter
        POST /v1/unload_lora_adapter     Unload Lora Adapter
        POST /tokenize                   Tokenize
        POST /detokenize                 Detokenize
        POST /invocations                Invocations
        GET  /health                     Health
        GET  /ping                       Ping
        GET  /version                    Show Version
        GET  /load                       Get Server Load Metrics
        GET  /metrics                    Metrics
        GET  /server_info                Show Server Info
        POST /reset_prefix_cache         Reset Prefix Cache
        POST /sleep                      Sleep
        POST /wake_up                    Wake Up
        GET  /is_sleeping                Is Sleeping
        """);
    private static final List<Endpoint> OF_DEV_MODE = read("""
        POST /pause                      Pause Generation
        POST /resume                     Resume Generation
        GET  /is_paused                  Is Paused
        POST /abort_requests             Abort Requests
        POST /collective_rpc             Collective Rpc
        GET  /get_world_size             Get World Size
        POST /reset_mm_cache             Reset Mm Cache
        POST /reset_encoder_cache        Reset Encoder Cache
        """);

    /** Those of all tasks of pooling models. */
    private static final List<Endpoint> OF_POOLING_MODELS = read("""
        POST /v1/embeddings              Create Embedding
        POST /pooling                    Create Pooling
        POST /classify                   Create Classify
        POST /score                      Create Score
        POST /v1/score                   Create Score V1
        POST /rerank                     Do Rerank
        POST /v1/rerank                  Do Rerank V1
        POST /v2/rerank                  Do Rerank V2
        """);

    private static final List<Endpoint> OF_SGLANG = read("""
        POST /generate                   Generate Request
        GET  /health_generate            Health Generate
        GET  /model_info                 Model Info
        GET  /get_model_info             Get Model Info
        GET  /v1/loads                   Get Loads
        GET  /get_load                   Get Load
        GET  /get_server_info            Get Server Info
        POST /flush_cache                Flush Cache
        POST /abort_request              Abort Request
        POST /pause_generation           Pause Generation
        POST /continue_generation        Continue Generation
        POST /load_lora_adapter          Load Lora Adapter
        POST /unload_lora_adapter        Unload Lora Adapter
        POST /open_session               Open Session
        POST /close_session              Close Session
        """);

    private final ApiSettings settings;
    private final boolean hasSglang;

    private record Endpoint(String method, String path, String summary) {}

    /**
     * Creates the routes.
     *
     * @param hasSglang whether SGLang's own endpoints are there
     */
    public DocsRoutes(ApiSettings settings, boolean hasSglang) {
        this.settings = settings;
        this.hasSglang = hasSglang;
    }

    @Override
    public Route route() {
        return concat(
                path("openapi.json", () -> get(() -> complete(HttpBodies.json(200, openApi())))),
                path("docs", () -> get(() -> complete(page()))),
                path("redoc", () -> get(() -> complete(page()))));
    }

    private static List<Endpoint> read(String table) {
        return table.lines()
                .map(line -> line.split(" +", 3))
                .map(row -> new Endpoint(row[0], row[1], row[2]))
                .toList();
    }

    private List<Endpoint> endpoints() {
        var all = new ArrayList<>(ENDPOINTS);
        if (settings.model().pooling() != null) {
            all.addAll(OF_POOLING_MODELS);
        }
        if (settings.surface().hasDevEndpoints()) {
            all.addAll(OF_DEV_MODE);
        }
        if (hasSglang) {
            all.addAll(OF_SGLANG);
        }
        all.removeIf(each -> settings.absent().endpoints().contains(each.path));
        return all;
    }

    /** Returns paths and methods; schemas of bodies are those of OpenAI and vLLM, and not repeated. */
    private ObjectNode openApi() {
        var api = Json.object().put("openapi", "3.1.0");
        api.putObject("info").put("title", "vLLM API, emulated by Understudy").put("version", settings.vllmVersion());
        var paths = api.putObject("paths");
        for (var each : endpoints()) {
            var method = paths.withObjectProperty(each.path).putObject(each.method.toLowerCase(Locale.ROOT));
            method.put("summary", each.summary);
            if (each.path.contains("{")) {
                var id = method.putArray("parameters").addObject();
                id.put("name", "response_id").put("in", "path").put("required", true);
                id.putObject("schema").put("type", "string");
            }
            if (each.method.equals("POST")) {
                method.putObject("requestBody")
                        .putObject("content")
                        .putObject("application/json")
                        .putObject("schema")
                        .put("type", "object");
            }
            method.putObject("responses").putObject("200").put("description", "Successful Response");
        }
        return api;
    }

    private HttpResponse page() {
        var html = new StringBuilder("""
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Endpoints</title>
            <style>
              body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem; padding: 0 1rem; }
              td { padding: .2rem 1.5rem .2rem 0; } code { white-space: nowrap; }
            </style>
            <h1>Endpoints</h1>
            <p>This server emulates vLLM. The same list for programs is <a href="openapi.json">openapi.json</a>.</p>
            <table>
            """);
        for (var each : endpoints()) {
            html.append("<tr><td>")
                    .append(each.method)
                    .append("<td><code>")
                    .append(each.path)
                    .append("</code><td>")
                    .append(each.summary)
                    .append('\n');
        }
        html.append("</table>\n</html>\n");
        return HttpResponse.create().withEntity(HttpEntities.create(ContentTypes.TEXT_HTML_UTF8, html.toString()));
    }
}

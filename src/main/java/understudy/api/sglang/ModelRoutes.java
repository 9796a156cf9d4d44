package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.remaining;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;
import understudy.api.openai.InfoRoutes;

/** Routes of SGLang that tell of the model and of its health. */
public final class ModelRoutes implements RoutePart {
    private final ApiContext api;
    private final InfoRoutes info;

    /** Creates the routes; a probe that generates is answered as the one that does not. */
    public ModelRoutes(ApiContext api, InfoRoutes info) {
        this.api = api;
        this.info = info;
    }

    @Override
    public Route route() {
        return concat(
                path(segment("v1").slash("models").slash(remaining()), id -> get(() -> complete(model(id)))),
                path("health_generate", () -> get(() -> completeWithFuture(info.health()))),
                path("model_info", () -> get(() -> complete(HttpBodies.json(200, modelInfo())))),
                path("get_model_info", () -> get(() -> complete(HttpBodies.json(200, modelInfo())))));
    }

    /** As {@code retrieve_model} of {@code http_server.py}. */
    private HttpResponse model(String id) {
        var card = info.model(id);
        if (card != null) {
            return HttpBodies.json(200, card);
        }
        var body = Json.object();
        body.putObject("error")
                .put("message", "The model '" + id + "' does not exist")
                .put("type", "invalid_request_error")
                .put("param", "model")
                .put("code", "model_not_found");
        return HttpBodies.json(404, body);
    }

    /** What needs the model's files is left out: its type, its architecture, and what it understands besides text. */
    private ObjectNode modelInfo() {
        String model = api.settings().servedModel();
        return Json.object()
                .put("model_path", model)
                .put("tokenizer_path", model)
                .put("is_generation", api.settings().model().pooling() == null)
                .putNull("preferred_sampling_params")
                .put("weight_version", "default");
    }
}

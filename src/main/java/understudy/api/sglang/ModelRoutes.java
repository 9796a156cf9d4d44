package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import com.fasterxml.jackson.databind.node.ObjectNode;
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
                path("health_generate", () -> get(() -> completeWithFuture(info.health()))),
                path("model_info", () -> get(() -> complete(HttpBodies.json(200, modelInfo())))),
                path("get_model_info", () -> get(() -> complete(HttpBodies.json(200, modelInfo())))));
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

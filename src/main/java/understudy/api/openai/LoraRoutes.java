package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.reject;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.LoraChanges;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;

/**
 * Routes that load and unload LoRA adapters, as vLLM has them with {@code VLLM_ALLOW_RUNTIME_LORA_UPDATING}; there are none
 * without LoRA.
 *
 * <p>As in vLLM, a call is answered when the adapter has been read, and its name is known from then on; calls about one name
 * take turns. Unlike in vLLM, an adapter that has left the host's memory for others can be unloaded.
 */
public final class LoraRoutes implements RoutePart {
    private final ApiContext api;
    private final LoraChanges changes;

    public LoraRoutes(ApiContext api, LoraChanges changes) {
        this.api = api;
        this.changes = changes;
    }

    @Override
    public Route route() {
        if (!api.loras().areEnabled()) {
            return reject();
        }
        var bodies = api.bodies();
        return concat(
                path(segment("v1").slash("load_lora_adapter"), () -> bodies.post((request, body) -> load(body))),
                path(segment("v1").slash("unload_lora_adapter"), () -> bodies.post((request, body) -> unload(body))));
    }

    private CompletionStage<HttpResponse> load(JsonBody body) {
        @Nullable String name = body.text("lora_name");
        @Nullable String path = body.text("lora_path");
        if (name == null || name.isEmpty() || path == null || path.isEmpty()) {
            throw invalid("Both 'lora_name' and 'lora_path' must be provided.");
        }
        changes.refusal(name, path).ifPresent(why -> {
            throw invalid(why);
        });
        boolean isInPlace = body.bool("load_inplace", false);
        return changes.inTurn(name, () -> load(name, path, isInPlace));
    }

    private CompletionStage<HttpResponse> load(String name, String path, boolean isInPlace) {
        if (changes.isKnown(name) && !isInPlace) {
            throw invalid("The lora adapter '" + name + "' has already been loaded. If you want to load the adapter in"
                    + " place, set 'load_inplace' to True.");
        }
        return changes.load(name, path, isInPlace)
                .thenApply(done -> success("Success: LoRA adapter '" + name + "' added successfully."));
    }

    private CompletionStage<HttpResponse> unload(JsonBody body) {
        @Nullable String name = body.text("lora_name");
        if (name == null || name.isEmpty()) {
            throw invalid("'lora_name' needs to be provided to unload a LoRA adapter.");
        }
        return changes.inTurn(name, () -> unload(name));
    }

    private CompletionStage<HttpResponse> unload(String name) {
        if (!changes.isKnown(name)) {
            throw new ApiException(404, "NotFoundError", "The lora adapter '" + name + "' cannot be found.", null);
        }
        return changes.unload(name)
                .thenApply(done -> success("Success: LoRA adapter '" + name + "' removed successfully."));
    }

    private static ApiException invalid(String message) {
        return new ApiException(400, "InvalidUserInput", message, null);
    }

    private static HttpResponse success(String message) {
        return HttpResponse.create().withEntity(ContentTypes.TEXT_PLAIN_UTF8, message);
    }
}

package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.reject;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.LoraAdapters;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;

/**
 * Routes that load and unload LoRA adapters, as vLLM has them with {@code VLLM_ALLOW_RUNTIME_LORA_UPDATING}; there are none
 * without LoRA.
 *
 * <p>Loading makes the name known; the adapter is read with the first step that needs it, and not, as in vLLM, at once. One
 * that a replica still has from before it was unloaded is not read again.
 */
public final class LoraRoutes implements RoutePart {
    /** Names are kept until they are unloaded, so that clients must not add them for ever. */
    private static final int MAX_ADAPTERS = 10_000;

    private static final int MAX_CHARS = 4096;

    private final ApiContext api;
    private final OptionalInt replica;

    /** @param replica the one that adapters are loaded to, or empty for all */
    public LoraRoutes(ApiContext api, OptionalInt replica) {
        this.api = api;
        this.replica = replica;
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
        if (api.settings().models().contains(name)) {
            throw invalid("The lora adapter '" + name + "' has the name of a model that is served.");
        }
        if (api.loras().at(OptionalInt.empty()).size() >= MAX_ADAPTERS) {
            throw invalid("There are " + MAX_ADAPTERS + " lora adapters already.");
        }
        if (name.length() > MAX_CHARS || path.length() > MAX_CHARS) {
            throw invalid("'lora_name' and 'lora_path' must have at most " + MAX_CHARS + " characters.");
        }
        boolean isLoaded = api.loras().isKnown(name, replica);
        if (isLoaded && !body.bool("load_inplace", false)) {
            throw invalid("The lora adapter '" + name + "' has already been loaded. If you want to load the adapter in"
                    + " place, set 'load_inplace' to True.");
        }
        api.loras().add(name, path, replica);
        return success("Success: LoRA adapter '" + name + "' added successfully.");
    }

    private CompletionStage<HttpResponse> unload(JsonBody body) {
        @Nullable String name = body.text("lora_name");
        if (name == null || name.isEmpty()) {
            throw invalid("'lora_name' needs to be provided to unload a LoRA adapter.");
        }
        LoraAdapters adapters = api.loras();
        if (!adapters.remove(name, replica, api.cluster().numReplicas())) {
            throw new ApiException(404, "NotFoundError", "The lora adapter '" + name + "' cannot be found.", null);
        }
        return success("Success: LoRA adapter '" + name + "' removed successfully.");
    }

    private static ApiException invalid(String message) {
        return new ApiException(400, "InvalidUserInput", message, null);
    }

    private static CompletionStage<HttpResponse> success(String message) {
        return CompletableFuture.completedFuture(
                HttpResponse.create().withEntity(ContentTypes.TEXT_PLAIN_UTF8, message));
    }
}

package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.reject;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.cluster.Router;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaOrder.AdapterAction;

/**
 * Routes that load and unload LoRA adapters, as vLLM has them with {@code VLLM_ALLOW_RUNTIME_LORA_UPDATING}; there are none
 * without LoRA.
 *
 * <p>As in vLLM, a call is answered when the adapter has been read, and its name is known from then on; calls about one name
 * take turns. Unlike in vLLM, an adapter that has left the host's memory for others can be unloaded.
 */
public final class LoraRoutes implements RoutePart {
    /** Names are kept until they are unloaded, so that clients must not add them for ever. */
    private static final int MAX_ADAPTERS = 10_000;

    private static final int MAX_CHARS = 4096;

    private final ApiContext api;
    private final OptionalInt replica;
    private final Map<String, CompletableFuture<HttpResponse>> lastCalls = new ConcurrentHashMap<>();

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
        boolean isInPlace = body.bool("load_inplace", false);
        return inTurn(name, () -> load(name, path, isInPlace));
    }

    private CompletionStage<HttpResponse> load(String name, String path, boolean isInPlace) {
        if (api.loras().isKnown(name, replica) && !isInPlace) {
            throw invalid("The lora adapter '" + name + "' has already been loaded. If you want to load the adapter in"
                    + " place, set 'load_inplace' to True.");
        }
        return change(name, isInPlace ? AdapterAction.LOAD_INPLACE : AdapterAction.LOAD)
                .thenApply(done -> {
                    api.loras().add(name, path, replica);
                    return success("Success: LoRA adapter '" + name + "' added successfully.");
                });
    }

    private CompletionStage<HttpResponse> unload(JsonBody body) {
        @Nullable String name = body.text("lora_name");
        if (name == null || name.isEmpty()) {
            throw invalid("'lora_name' needs to be provided to unload a LoRA adapter.");
        }
        return inTurn(name, () -> unload(name));
    }

    private CompletionStage<HttpResponse> unload(String name) {
        if (!api.loras().isKnown(name, replica)) {
            throw new ApiException(404, "NotFoundError", "The lora adapter '" + name + "' cannot be found.", null);
        }
        return change(name, AdapterAction.UNLOAD).thenApply(done -> {
            api.loras().remove(name, replica, api.cluster().numReplicas());
            return success("Success: LoRA adapter '" + name + "' removed successfully.");
        });
    }

    private CompletionStage<Router.AllDone> change(String name, AdapterAction action) {
        return api.cluster().order(replica, new ReplicaOrder.OfAdapter(name, action));
    }

    /** Begins a call when the one before it about the same name has ended. */
    private CompletionStage<HttpResponse> inTurn(String name, Supplier<CompletionStage<HttpResponse>> call) {
        var turn = lastCalls.compute(name, (key, last) -> {
            CompletionStage<?> before = last == null ? CompletableFuture.completedFuture(null) : last;
            return before.handle((ended, failure) -> null)
                    .thenCompose(ended -> call.get())
                    .toCompletableFuture();
        });
        return turn.whenComplete((ended, failure) -> lastCalls.remove(name, turn));
    }

    private static ApiException invalid(String message) {
        return new ApiException(400, "InvalidUserInput", message, null);
    }

    private static HttpResponse success(String message) {
        return HttpResponse.create().withEntity(ContentTypes.TEXT_PLAIN_UTF8, message);
    }
}

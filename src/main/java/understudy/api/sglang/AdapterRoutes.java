package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.LoraChanges;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;

/**
 * Routes that load and unload LoRA adapters, with SGLang's bodies and answers ({@code managers/tokenizer_control_mixin.py},
 * {@code lora/lora_manager.py}, {@code LoRAUpdateOutput} of {@code managers/io_struct.py}). That an adapter is pinned has no
 * effect.
 */
public final class AdapterRoutes implements RoutePart {
    private final ApiContext api;
    private final LoraChanges changes;
    private final AdapterNames names;

    public AdapterRoutes(ApiContext api, LoraChanges changes, OptionalInt replica) {
        this.api = api;
        this.changes = changes;
        names = new AdapterNames(api.loras(), replica);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path("load_lora_adapter", () -> bodies.postOfAnyType((request, body) -> load(body))),
                path("unload_lora_adapter", () -> bodies.postOfAnyType((request, body) -> unload(body))));
    }

    private CompletionStage<HttpResponse> load(JsonBody body) {
        String name = text(body, "lora_name");
        String path = text(body, "lora_path");
        body.bool("pinned", false);
        if (!api.loras().areEnabled()) {
            return refused("LoRA is not enabled. Please set `--enable-lora` to enable LoRA.");
        }
        var refusal = changes.refusal(name, path);
        if (refusal.isPresent()) {
            return failed(refusal.get());
        }
        return changes.inTurn(
                name,
                () -> changes.isKnown(name)
                        ? failed("Failed to load LoRA adapter " + name + " because it is already loaded")
                        : changes.load(name, path, false).thenApply(done -> answer(true, "", true)));
    }

    private CompletionStage<HttpResponse> unload(JsonBody body) {
        String name = text(body, "lora_name");
        if (!api.loras().areEnabled()) {
            return refused("LoRA is not enabled. Please set `--enable-lora` to enable LoRA.");
        }
        return changes.inTurn(
                name,
                () -> changes.isKnown(name)
                        ? changes.unload(name).thenApply(done -> answer(true, "", true))
                        : refused("LoRA with name " + name + " does not exist. Loaded LoRAs: " + names.keys()));
    }

    private static String text(JsonBody body, String key) {
        body.require(key);
        String text = body.text(key);
        if (text == null || text.isEmpty()) {
            throw ApiException.invalid("String should have at least 1 character", body.at(key));
        }
        return text;
    }

    /** A refusal of the front end, which does not ask the engine what is loaded. */
    private CompletionStage<HttpResponse> refused(String message) {
        return CompletableFuture.completedFuture(answer(false, message, false));
    }

    private CompletionStage<HttpResponse> failed(String message) {
        return CompletableFuture.completedFuture(answer(false, message, true));
    }

    private HttpResponse answer(boolean isDone, String message, boolean listsLoaded) {
        var answer = Json.object().put("success", isDone).put("error_message", message);
        if (listsLoaded) {
            var loaded = answer.putObject("loaded_adapters");
            names.loras().at(names.replica()).forEach(adapter -> loaded.put(adapter.name(), adapter.path()));
        } else {
            answer.putNull("loaded_adapters");
        }
        return HttpBodies.json(isDone ? 200 : 400, answer);
    }
}

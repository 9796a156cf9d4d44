package understudy.api.dev;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.post;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.faults.SleepMode;

/**
 * Routes of vLLM's development mode that act on the engine: on the replica behind a port, or on all behind the port of
 * the cluster. A pause is a sleep that keeps all memory. Caches of media and of encoders are not emulated, so there is
 * nothing in them to forget, and workers have no methods to call.
 */
public final class DevRoutes implements RoutePart {
    private final ApiContext api;
    private final EngineSleep engines;
    private final OptionalInt replica;

    public DevRoutes(ApiContext api, EngineSleep engines, OptionalInt replica) {
        this.api = api;
        this.engines = engines;
        this.replica = replica;
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path("pause", () -> post(() -> parameterMap(query -> completeWithFuture(pause(query))))),
                path("resume", () -> post(() -> completeWithFuture(resume()))),
                path("is_paused", () -> get(() -> completeWithFuture(isPaused()))),
                path("abort_requests", () -> bodies.postOfAnyType(this::abort)),
                path("collective_rpc", () -> bodies.postOfAnyType(this::call)),
                path("get_world_size", () -> get(() -> parameterMap(query -> complete(worldSize(query))))),
                path("reset_mm_cache", () -> post(() -> complete(HttpResponse.create()))),
                path("reset_encoder_cache", () -> post(() -> complete(HttpResponse.create()))));
    }

    private CompletionStage<HttpResponse> pause(Map<String, String> query) {
        String word = query.getOrDefault("mode", "abort");
        var asked = SleepMode.find(word)
                .orElseThrow(() -> ApiException.invalid("Input should be 'abort', 'wait' or 'keep'", "query.mode"));
        var mode = isOn(query, "wait_for_inflight_requests", false) ? SleepMode.WAIT : asked;
        boolean clears = isOn(query, "clear_cache", true) && mode != SleepMode.KEEP;
        return engines.sleep(replica, 0, mode)
                .thenCompose(
                        done -> clears ? api.cluster().resetPrefixCache(false) : CompletableFuture.completedStage(true))
                .thenApply(done -> status("paused"));
    }

    private CompletionStage<HttpResponse> resume() {
        return engines.wakeUp(replica, Set.of("scheduling")).thenApply(done -> status("resumed"));
    }

    private CompletionStage<HttpResponse> isPaused() {
        return engines.isSleeping(replica)
                .thenApply(is -> HttpBodies.json(200, Json.object().put("is_paused", is)));
    }

    /** Without names, all calls are meant; as in vLLM, the number of names is told, whether they are known or not. */
    private CompletionStage<HttpResponse> abort(HttpRequest request, JsonBody body) {
        var names = new HashSet<>(body.texts("request_ids"));
        int count = api.state().abort(name -> names.isEmpty() || names.contains(name));
        var answer = Json.object().put("status", "aborted").put("aborted", names.isEmpty() ? count : names.size());
        return CompletableFuture.completedFuture(HttpBodies.json(200, answer));
    }

    private CompletionStage<HttpResponse> call(HttpRequest request, JsonBody body) {
        if (body.text("method") == null) {
            throw new ApiException(400, "Bad Request", "Missing 'method' in request body", null);
        }
        var answer = Json.object();
        var results = answer.putArray("results");
        for (int i = 0; i < numWorkers(true); i++) {
            results.addNull();
        }
        return CompletableFuture.completedFuture(HttpBodies.json(200, answer));
    }

    private HttpResponse worldSize(Map<String, String> query) {
        boolean counts = isOn(query, "include_dp", true);
        return HttpBodies.json(200, Json.object().put("world_size", numWorkers(counts)));
    }

    /** Returns the workers behind this port; ranks of data parallelism are replicas here. */
    private int numWorkers(boolean countsRanks) {
        int ofOne = api.settings().surface().numWorkers();
        return countsRanks && replica.isEmpty() ? ofOne * api.cluster().numReplicas() : ofOne;
    }

    private static boolean isOn(Map<String, String> query, String key, boolean otherwise) {
        ObjectNode field = Json.object().put(key, query.get(key));
        return new JsonBody(field).bool(key, otherwise);
    }

    private static HttpResponse status(String word) {
        return HttpBodies.json(200, Json.object().put("status", word));
    }
}

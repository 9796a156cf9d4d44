package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.encodeResponseWith;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.parameterOptional;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathEndOrSingleSlash;
import static org.apache.pekko.http.javadsl.server.Directives.pathPrefix;
import static org.apache.pekko.http.javadsl.server.Directives.post;
import static org.apache.pekko.http.javadsl.server.Directives.respondWithHeader;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.coding.Coder;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.ServerState;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;
import understudy.faults.ReplicaState;
import understudy.runtime.EpochClock;

/** Routes that describe the server. */
public final class InfoRoutes implements RoutePart {
    private static final ContentType METRICS = ContentTypes.create(
            MediaTypes.customWithOpenCharset("text", "plain", java.util.Map.of("version", "0.0.4"), false),
            HttpCharsets.UTF_8);

    private final ApiContext api;
    private final OptionalInt replica;
    private final boolean isSglang;
    private final long startedSeconds = EpochClock.seconds();

    /**
     * Creates the routes.
     *
     * @param isSglang whether all engines behind the port are SGLang's, whose cards of models are shorter
     */
    public InfoRoutes(ApiContext api, OptionalInt replica, boolean isSglang) {
        this.isSglang = isSglang;
        this.api = api;
        this.replica = replica;
    }

    @Override
    public Route route() {
        return concat(
                path("health", () -> get(() -> completeWithFuture(health()))),
                path(segment("health").slash("ready"), () -> get(() -> completeWithFuture(readiness()))),
                path(
                        "ping",
                        () -> concat(
                                get(() -> complete(HttpResponse.create())),
                                post(() -> complete(HttpResponse.create())))),
                path("version", () -> get(() -> complete(HttpBodies.json(200, version())))),
                path("load", () -> get(() -> complete(HttpBodies.json(200, load())))),
                pathPrefix("metrics", () -> pathEndOrSingleSlash(this::metricsRoute)),
                path(segment("v1").slash("models"), () -> get(() -> complete(HttpBodies.json(200, models())))),
                path("reset_prefix_cache", () -> post(this::resetPrefixCache)));
    }

    /** As vLLM's: 503 once what serves has died, here the replica, or all replicas behind the port of the cluster. */
    public CompletionStage<HttpResponse> health() {
        return api.state().phase() == ServerState.Phase.FAILED
                ? CompletableFuture.completedFuture(status(false))
                : states().thenApply(states -> status(!isDown(states)));
    }

    /** Draining, removal and a cluster without any replica are meant; only a crash and a start are not. */
    private static boolean isDown(List<ReplicaState> states) {
        boolean hasDied = states.contains(ReplicaState.DOWN) || states.contains(ReplicaState.STARTING);
        return hasDied && states.stream().noneMatch(ReplicaState::isUp);
    }

    private CompletionStage<HttpResponse> readiness() {
        return api.state().phase() == ServerState.Phase.READY
                ? states().thenApply(states -> status(states.contains(ReplicaState.READY)))
                : CompletableFuture.completedFuture(status(false));
    }

    /** Returns the states of the replicas behind this port. */
    private CompletionStage<List<ReplicaState>> states() {
        return api.cluster()
                .states()
                .thenApply(states -> replica.isEmpty() ? states : List.of(states.get(replica.getAsInt())));
    }

    private static HttpResponse status(boolean isGood) {
        return HttpResponse.create().withStatus(isGood ? 200 : 503);
    }

    /** Beside vLLM's version, which its clients compare, our own. */
    private ObjectNode version() {
        return Json.object().put("version", api.settings().vllmVersion()).put("understudy", ownVersion());
    }

    private static String ownVersion() {
        String version = InfoRoutes.class.getPackage().getImplementationVersion();
        return version == null ? "(not packaged)" : version;
    }

    private ObjectNode load() {
        return Json.object().put("server_load", api.state().numInFlight());
    }

    /** As the application of prometheus_client that vLLM mounts: whatever the method, with or without a slash. */
    private Route metricsRoute() {
        var encodings = List.of(Coder.NoCoding, Coder.Gzip);
        return respondWithHeader(
                RawHeader.create("Vary", "Accept-Encoding"),
                () -> encodeResponseWith(encodings, () -> complete(metrics())));
    }

    private HttpResponse metrics() {
        String text = replica.isEmpty() ? api.metrics().text() : api.metrics().textOf(replica.getAsInt());
        return HttpResponse.create().withEntity(HttpEntities.create(METRICS, ByteString.fromString(text)));
    }

    private ObjectNode models() {
        var list = Json.object().put("object", "list");
        var data = list.putArray("data");
        String root = api.settings().servedModel();
        for (String model : api.settings().models()) {
            card(data.addObject(), model, root, null, api.settings().model().maxModelLen());
        }
        for (var adapter : api.loras().at(replica)) {
            card(data.addObject(), adapter.name(), adapter.path(), root, null);
        }
        return list;
    }

    /** Returns the card of a model or an adapter, or null if there is none of the name. */
    public @Nullable JsonNode model(String id) {
        for (var card : models().get("data")) {
            if (card.get("id").textValue().equals(id)) {
                return card;
            }
        }
        return null;
    }

    private void card(ObjectNode card, String id, String root, @Nullable String parent, @Nullable Integer maxModelLen) {
        card.put("id", id)
                .put("object", "model")
                .put("created", startedSeconds)
                .put("owned_by", isSglang ? "sglang" : "vllm")
                .put("root", root)
                .put("parent", parent)
                .put("max_model_len", maxModelLen);
        if (!isSglang) {
            card.putArray("permission").add(permission(id));
        }
    }

    private ObjectNode permission(String model) {
        return Json.object()
                .put("id", String.format("modelperm-%016x", (long) model.hashCode()))
                .put("object", "model_permission")
                .put("created", startedSeconds)
                .put("allow_create_engine", false)
                .put("allow_sampling", true)
                .put("allow_logprobs", true)
                .put("allow_search_indices", false)
                .put("allow_view", true)
                .put("allow_fine_tuning", false)
                .put("organization", "*")
                .putNull("group")
                .put("is_blocking", false);
    }

    private Route resetPrefixCache() {
        return parameterOptional("reset_running_requests", resets -> {
            boolean resetsRunning = resets.map(Boolean::parseBoolean).orElse(false);
            return completeWithFuture(api.cluster()
                    .resetPrefixCache(resetsRunning)
                    .thenApply(isDone -> HttpBodies.json(200, Json.object().put("success", isDone))));
        });
    }
}

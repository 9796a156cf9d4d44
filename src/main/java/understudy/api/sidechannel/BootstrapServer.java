package understudy.api.sidechannel;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.jspecify.annotations.Nullable;
import understudy.api.call.SideChannelSettings;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.cluster.ClusterSpec;
import understudy.routing.Role;

/**
 * Bootstrap server of SGLang, from which those that answer learn whom they get KV from ({@code disaggregation/common/conn.py},
 * {@code CommonKVBootstrapServer}). All workers are in this process and known from the start; one that registers changes
 * nothing.
 */
final class BootstrapServer {
    private static final Set<String> PATHS = Set.of("/route", "/health", "/register_dp_rank", "/query_dp_ranks");
    private static final int MAX_BODY_BYTES = 1 << 20;
    private static final int MAX_ROOMS = 100_000;
    private static final long BODY_LIMIT_MILLIS = 5_000;
    private static final String ALL = "-1";

    private final int numGpus;
    private final int numWorkers;
    private final int pageSize;
    private final String host;
    private final int httpPort;

    /** Ranks of rooms as they were registered, the oldest first. */
    private final Map<Long, Integer> ranks = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Integer> eldest) {
            return size() > MAX_ROOMS;
        }
    };

    /** @param httpPort of the server that takes calls */
    BootstrapServer(ClusterSpec spec, SideChannelSettings settings, int httpPort) {
        var workers = spec.replicas().stream()
                .filter(replica -> replica.traits().role() == Role.PREFILL)
                .toList();
        numGpus = settings.tensorParallelSize();
        numWorkers = workers.size();
        pageSize = workers.get(0).kvCache().blockSize();
        host = settings.host();
        this.httpPort = httpPort;
    }

    /** Returns whether a request is one for this server. */
    boolean has(HttpRequest request) {
        return PATHS.contains(request.getUri().path());
    }

    CompletionStage<HttpResponse> answer(HttpRequest request, ActorSystem<?> system) {
        String call = request.method().value() + " " + request.getUri().path();
        return switch (call) {
            case "PUT /route" -> withBody(request, system, body -> body.isObject() ? text(200, "OK") : null);
            case "POST /register_dp_rank" -> withBody(request, system, this::register);
            case "POST /query_dp_ranks" -> withBody(request, system, this::query);
            default -> {
                request.entity().discardBytes(system);
                yield CompletableFuture.completedFuture(
                        switch (call) {
                            case "GET /health" -> text(200, "OK");
                            case "GET /route" -> route(request);
                            default -> text(405, "Method not allowed");
                        });
            }
        };
    }

    /** @param answerer returns null for a body that makes no sense, with which the real one answers 500 */
    private static CompletionStage<HttpResponse> withBody(
            HttpRequest request, ActorSystem<?> system, Function<JsonNode, @Nullable HttpResponse> answerer) {
        return request.entity()
                .withSizeLimit(MAX_BODY_BYTES)
                .toStrict(BODY_LIMIT_MILLIS, system)
                .thenApply(entity -> {
                    var answer = answerer.apply(read(entity.getData().toArray()));
                    return answer == null ? text(500, "500 Internal Server Error") : answer;
                });
    }

    private static JsonNode read(byte[] bytes) {
        try {
            return Json.read(new String(bytes, StandardCharsets.UTF_8));
        } catch (RuntimeException e) {
            return Json.array();
        }
    }

    private HttpResponse route(HttpRequest request) {
        var query = request.getUri().query();
        String worker = query.get("prefill_dp_rank").orElse("");
        String context = query.get("prefill_cp_rank").orElse("");
        String gpu = query.get("target_tp_rank").orElse("");
        String stage = query.get("target_pp_rank").orElse("");
        if (worker.isEmpty() || context.isEmpty() || gpu.isEmpty() || stage.isEmpty()) {
            return text(400, "Missing inputs for bootstrap server.");
        }
        if (worker.equals(ALL) && context.equals(ALL) && gpu.equals(ALL) && stage.equals(ALL)) {
            var info = Json.object()
                    .put("attn_tp_size", numGpus)
                    .put("attn_cp_size", 1)
                    .put("dp_size", numWorkers)
                    .put("pp_size", 1)
                    .put("page_size", pageSize)
                    .put("kv_cache_dtype", "auto")
                    .put("follow_bootstrap_room", false)
                    .put("enable_dsa_cache_layer_split", false)
                    .put("prefill_http_port", httpPort);
            return HttpBodies.json(200, info);
        }
        boolean isKnown =
                isBelow(worker, numWorkers) && isBelow(context, 1) && isBelow(gpu, numGpus) && isBelow(stage, 1);
        return isKnown
                ? HttpBodies.json(200, Json.object().put("rank_ip", host).put("rank_port", httpPort))
                : text(
                        404,
                        "Bootstrap info not found for dp_rank=" + worker + " cp_rank=" + context + " tp_rank=" + gpu
                                + " pp_rank=" + stage);
    }

    private static boolean isBelow(String number, int limit) {
        return number.matches("\\d{1,6}") && Integer.parseInt(number) < limit;
    }

    private synchronized @Nullable HttpResponse register(JsonNode body) {
        var room = body.path("bootstrap_room");
        var rank = body.path("dp_rank");
        if (!room.canConvertToLong() || !rank.canConvertToInt()) {
            return null;
        }
        ranks.put(room.longValue(), rank.intValue());
        return text(200, "OK");
    }

    private synchronized @Nullable HttpResponse query(JsonNode body) {
        var rooms = body.path("bootstrap_rooms");
        if (!rooms.isArray()) {
            return null;
        }
        var known = Json.object();
        for (var room : rooms) {
            var rank = room.canConvertToLong() ? ranks.get(room.longValue()) : null;
            if (rank != null) {
                known.put(room.asText(), rank);
            }
        }
        return HttpBodies.json(200, known);
    }

    private static HttpResponse text(int status, String text) {
        return HttpResponse.create()
                .withStatus(status)
                .withEntity(HttpEntities.create(ContentTypes.TEXT_PLAIN_UTF8, text));
    }
}

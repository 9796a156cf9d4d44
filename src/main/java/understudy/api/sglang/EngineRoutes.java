package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.post;

import com.fasterxml.jackson.databind.node.NullNode;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.dev.EngineSleep;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.faults.ReplicaOrder;
import understudy.faults.SleepMode;

/**
 * Routes of SGLang that act on engines: on the replica behind a port, or on all behind the port of the cluster. A pause is
 * vLLM's sleep of level 0, which keeps all memory.
 */
public final class EngineRoutes implements RoutePart {
    private static final String FLUSHED = "Cache flushed.\nPlease check backend logs for more details. (When there are"
            + " running or waiting requests, the operation will not be performed.)\n";

    private static final String SLEEP = "forward_sleep_time";
    private static final int MAX_SLEEP_SECONDS = 3600;

    private final ApiContext api;
    private final EngineSleep engines;
    private final OptionalInt replica;

    public EngineRoutes(ApiContext api, EngineSleep engines, OptionalInt replica) {
        this.api = api;
        this.engines = engines;
        this.replica = replica;
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(
                        "flush_cache",
                        () -> concat(
                                get(() -> completeWithFuture(flushCache())),
                                post(() -> completeWithFuture(flushCache())))),
                path("abort_request", () -> bodies.postOfAnyType(this::abort)),
                path("pause_generation", () -> bodies.postOfAnyType(this::pause)),
                path("continue_generation", () -> bodies.postOfAnyType(this::resume)),
                path("slow_down", () -> bodies.postOfAnyType(this::slowDown)));
    }

    private CompletionStage<HttpResponse> flushCache() {
        return api.cluster()
                .order(replica, new ReplicaOrder.ResetPrefixCache(false))
                .thenApply(all -> all.isDone() ? text(200, FLUSHED) : text(400, "Flush cache failed.\n"));
    }

    private static HttpResponse text(int status, String text) {
        return HttpResponse.create()
                .withStatus(status)
                .withEntity(HttpEntities.create(ContentTypes.TEXT_PLAIN_UTF8, text));
    }

    /** All calls whose names begin with the given one are meant, as {@code Scheduler.abort_request} has it. */
    private CompletionStage<HttpResponse> abort(HttpRequest request, JsonBody body) {
        boolean areAllMeant = body.bool("abort_all", false);
        String rid = body.text("rid") == null ? "" : body.text("rid");
        if (areAllMeant || !rid.isEmpty()) {
            api.state().abort(name -> areAllMeant || isMeant(name, rid));
        }
        return CompletableFuture.completedFuture(HttpResponse.create());
    }

    /** The name of a call has a prefix of its API, which the clients of {@code /generate} do not know. */
    private static boolean isMeant(String name, String rid) {
        return name.startsWith(rid) || name.startsWith(rid, name.indexOf('-') + 1);
    }

    private CompletionStage<HttpResponse> pause(HttpRequest request, JsonBody body) {
        var mode = switch (body.text("mode") == null ? "abort" : body.text("mode")) {
            case "abort" -> SleepMode.ABORT;
            case "in_place", "retract" -> SleepMode.KEEP;
            default -> throw ApiException.invalid("Input should be 'abort', 'retract' or 'in_place'", body.at("mode"));
        };
        return engines.sleep(replica, 0, mode).thenApply(done -> status("Generation paused successfully."));
    }

    private CompletionStage<HttpResponse> resume(HttpRequest request, JsonBody body) {
        return engines.wakeUp(replica, Set.of("scheduling"))
                .thenApply(done -> status("Generation continued successfully."));
    }

    /** Each forward sleeps so long ({@code Scheduler.run_batch}); answered by nothing, in JSON. */
    private CompletionStage<HttpResponse> slowDown(HttpRequest request, JsonBody body) {
        if (!body.node().has(SLEEP)) {
            throw ApiException.invalid("Field required", body.at(SLEEP));
        }
        var seconds = body.number(SLEEP);
        if (seconds != null && !(seconds >= 0 && seconds <= MAX_SLEEP_SECONDS)) {
            throw ApiException.badRequest(
                    SLEEP + " is " + seconds + "; a number from 0 to " + MAX_SLEEP_SECONDS + " is allowed", null);
        }
        long nanos = seconds == null ? 0 : Math.round(seconds * 1e9);
        return api.cluster()
                .order(replica, new ReplicaOrder.DelaySteps(nanos))
                .thenApply(done -> HttpBodies.json(200, NullNode.getInstance()));
    }

    private static HttpResponse status(String message) {
        return HttpBodies.json(200, Json.object().put("message", message).put("status", "ok"));
    }
}

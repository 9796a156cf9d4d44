package understudy.api.admin;

import static org.apache.pekko.http.javadsl.server.PathMatchers.integerSegment;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.ClusterControl;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;
import understudy.cluster.Cluster;
import understudy.faults.FaultParser;
import understudy.faults.ReplicaState;
import understudy.settings.EntryFields;
import understudy.settings.Numbers;

/**
 * Control of a running cluster: a thin layer over the guardian's messages. Bodies are JSON; errors have the shape of
 * vLLM's.
 *
 * <ul>
 *   <li>{@code GET /admin/status}: the virtual time, and the state of each replica, of removed ones of the last
 *       ten.
 *   <li>{@code POST /admin/faults}: an entry of a scenario's {@code faults.plan}, without {@code at}: {@code {"do":
 *       "slow-gpu", "replica": 0, "factor": 3, "for": "10s"}}.
 *   <li>{@code POST /admin/replicas}: adds one. {@code POST /admin/replicas/<index>/<what>} with {@code crash}, {@code
 *       restart}, {@code drain}, {@code resume} or {@code remove}.
 *   <li>{@code POST /admin/clock/pause}, {@code /admin/clock/step}, {@code /admin/clock/run?speed=2} ({@code max} is as
 *       fast as possible) and {@code /admin/clock/advance?by=10s}.
 * </ul>
 */
public final class AdminRoutes extends AllDirectives implements RoutePart {
    /** Most replicas that are shown although they were removed; an autoscaler removes many in a day. */
    private static final int MAX_REMOVED = 10;

    private final HttpBodies bodies;
    private final ClusterControl cluster;
    private final ClockControl clock;

    /** Creates the routes. Access control is the business of the part that lets requests in. */
    public AdminRoutes(ApiContext api, ClockControl clock) {
        bodies = api.bodies();
        cluster = api.cluster();
        this.clock = clock;
    }

    /** Returns the routes under {@code /admin}. */
    @Override
    public Route route() {
        return pathPrefix("admin", () -> concat(status(), faults(), replicas(), clock()));
    }

    private Route status() {
        return path("status", () -> get(() -> completeWithFuture(currentStatus())));
    }

    private Route faults() {
        return path(
                "faults", () -> bodies.postOfAnyType((request, body) -> attempted(() -> inject(fields(body.node())))));
    }

    private Route replicas() {
        return pathPrefix(
                "replicas",
                () -> post(() -> concat(
                        pathEnd(() -> parameterOptional("group", group -> attempt(() -> inject(addition(group))))),
                        path(
                                integerSegment().slash(segment()),
                                (index, what) ->
                                        attempt(() -> inject(Map.of("do", what, "replica", String.valueOf(index))))))));
    }

    private static Map<String, String> addition(Optional<String> group) {
        return group.map(name -> Map.of("do", "add", "group", name)).orElseGet(() -> Map.of("do", "add"));
    }

    private Route clock() {
        return pathPrefix(
                "clock",
                () -> post(() -> concat(
                        path("pause", () -> attempt(() -> onClock(clock::pause))),
                        path("step", () -> attempt(() -> onClock(clock::step))),
                        path(
                                "run",
                                () -> parameterOptional("speed", speed -> attempt(() -> run(given("speed", speed))))),
                        path(
                                "advance",
                                () -> parameterOptional("by", by -> attempt(() -> advance(given("by", by))))))));
    }

    /** Answers mistakes of the client, which may show at once or later, with a client error. */
    private Route attempt(Supplier<CompletionStage<HttpResponse>> action) {
        return completeWithFuture(attempted(action));
    }

    private static CompletionStage<HttpResponse> attempted(Supplier<CompletionStage<HttpResponse>> action) {
        return CompletableFuture.completedStage(action)
                .thenCompose(Supplier::get)
                .exceptionally(failure -> {
                    if (failure.getCause() instanceof IllegalArgumentException mistake) {
                        throw ApiException.badRequest(String.valueOf(mistake.getMessage()), null);
                    }
                    throw new CompletionException(failure.getCause());
                });
    }

    private CompletionStage<HttpResponse> inject(Map<String, String> fields) {
        var changes = FaultParser.parse(fields, 0);
        var first = changes.get(0).change();
        return cluster.change(first).thenCompose(refusal -> {
            refusal.ifPresent(why -> {
                throw new ApiException(409, "ConflictError", why, null);
            });
            changes.stream()
                    .skip(1)
                    .forEach(later -> cluster.changeLater(Duration.ofNanos(later.atNanos()), later.change()));
            return currentStatus();
        });
    }

    private CompletionStage<HttpResponse> run(String speed) {
        double factor = speed(speed);
        return onClock(() -> clock.run(factor));
    }

    private CompletionStage<HttpResponse> advance(String by) {
        var duration = Duration.ofNanos(EntryFields.nanos("by", by));
        return onClock(() -> clock.advance(duration));
    }

    /** Some of the controls wait for the loop, so they do not run on the server's own threads. */
    private CompletionStage<HttpResponse> onClock(Runnable action) {
        return CompletableFuture.runAsync(action).thenCompose(done -> currentStatus());
    }

    private CompletionStage<HttpResponse> currentStatus() {
        return cluster.status().thenApply(status -> HttpBodies.json(200, toJson(status)));
    }

    private static ObjectNode toJson(Cluster.Status status) {
        var root = Json.object().put("virtual_time_s", status.atNanos() / 1e9);
        var replicas = root.putArray("replicas");
        int numRemoved = Collections.frequency(status.replicas(), ReplicaState.REMOVED);
        for (int i = 0; i < status.replicas().size(); i++) {
            var state = status.replicas().get(i);
            boolean isForgotten = state == ReplicaState.REMOVED && numRemoved-- > MAX_REMOVED;
            if (!isForgotten) {
                replicas.addObject().put("replica", i).put("state", state.name().toLowerCase(Locale.ROOT));
            }
        }
        return root;
    }

    /** Returns the fields of a flat JSON object. */
    private static Map<String, String> fields(ObjectNode root) {
        var fields = new HashMap<String, String>();
        root.properties().forEach(field -> {
            if (!field.getValue().isValueNode() || field.getValue().isNull()) {
                throw new IllegalArgumentException(field.getKey() + " must be a text or a number");
            }
            fields.put(field.getKey(), field.getValue().asText());
        });
        return fields;
    }

    private static String given(String name, Optional<String> value) {
        return value.orElseThrow(() -> new IllegalArgumentException("the parameter " + name + " is missing"));
    }

    private static double speed(String text) {
        double factor = Numbers.parse(text);
        if (text.equals("max") || (factor > 0 && Double.isFinite(factor))) {
            return text.equals("max") ? Double.POSITIVE_INFINITY : factor;
        }
        throw new IllegalArgumentException("speed is \"" + text + "\", must be a number above 0, or max");
    }
}

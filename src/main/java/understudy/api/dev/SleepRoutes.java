package understudy.api.dev;

import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMultiMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.post;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;
import understudy.faults.SleepMode;

/** Routes of vLLM's sleep mode, for the replica behind a port, or for all behind the port of the cluster. */
public final class SleepRoutes implements RoutePart {
    private static final Set<String> TAGS = Set.of("weights", "kv_cache", "scheduling");

    private final EngineSleep engines;
    private final OptionalInt replica;

    public SleepRoutes(EngineSleep engines, OptionalInt replica) {
        this.engines = engines;
        this.replica = replica;
    }

    @Override
    public Route route() {
        return concat(
                path("sleep", () -> post(() -> parameterMultiMap(query -> completeWithFuture(sleep(query))))),
                path("wake_up", () -> post(() -> parameterMultiMap(query -> completeWithFuture(wakeUp(query))))),
                path("is_sleeping", () -> get(() -> completeWithFuture(isSleeping()))));
    }

    private CompletionStage<HttpResponse> sleep(Map<String, List<String>> query) {
        String level = one(query, "level", "1");
        String mode = one(query, "mode", "abort");
        require(List.of("0", "1", "2").contains(level), "level", level, "0, 1 or 2");
        require(SleepMode.find(mode).isPresent(), "mode", mode, "abort, wait or keep");
        return engines.sleep(
                        replica, Integer.parseInt(level), SleepMode.find(mode).orElseThrow())
                .thenApply(done -> HttpResponse.create());
    }

    private CompletionStage<HttpResponse> wakeUp(Map<String, List<String>> query) {
        var tags = query.getOrDefault("tags", List.of());
        for (String tag : tags) {
            require(TAGS.contains(tag), "tags", tag, "weights, kv_cache or scheduling");
        }
        return engines.wakeUp(replica, Set.copyOf(tags)).thenApply(done -> HttpResponse.create());
    }

    private CompletionStage<HttpResponse> isSleeping() {
        return engines.isSleeping(replica)
                .thenApply(is -> HttpBodies.json(200, Json.object().put("is_sleeping", is)));
    }

    private static String one(Map<String, List<String>> query, String name, String otherwise) {
        var values = query.getOrDefault(name, List.of());
        return values.isEmpty() ? otherwise : values.get(0);
    }

    private static void require(boolean isGood, String name, String value, String allowed) {
        if (!isGood) {
            throw ApiException.badRequest(name + " is \"" + value + "\", must be " + allowed, name);
        }
    }
}

package example;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.RoutePart;

/** vLLM's {@code /is_paused}: an emulated engine is never paused. */
public final class PauseRoutes implements RoutePart {
    @Override
    public Route route() {
        return path("is_paused", () -> get(() -> complete(answer())));
    }

    private static HttpResponse answer() {
        return HttpBodies.json(200, Json.object().put("is_paused", false));
    }
}

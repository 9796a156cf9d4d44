package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import com.fasterxml.jackson.databind.node.TextNode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;

/** Routes that open and close sessions ({@code http_server.py}, {@code session/session_controller.py}). */
final class SessionRoutes implements RoutePart {
    private static final int MAX_CHARS = 256;

    private final ApiContext api;
    private final TokenSessions sessions;

    SessionRoutes(ApiContext api, TokenSessions sessions) {
        this.api = api;
        this.sessions = sessions;
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path("open_session", () -> bodies.postOfAnyType(this::open)),
                path("close_session", () -> bodies.postOfAnyType((request, body) -> close(body))));
    }

    /** SGLang keeps {@code capacity_of_str_len}, and does nothing with it. */
    private CompletionStage<HttpResponse> open(HttpRequest request, JsonBody body) {
        body.require("capacity_of_str_len");
        body.integer("capacity_of_str_len", 0);
        String given = body.text("session_id");
        String id = given == null ? RequestIds.of(request) : given;
        var timeout = body.number("timeout");
        long timeoutNanos = timeout == null ? Long.MAX_VALUE : Math.round(timeout * 1e9);
        boolean isOpen = id.length() <= MAX_CHARS && sessions.open(id, body.bool("streaming", false), timeoutNanos);
        if (!isOpen) {
            throw ApiException.badRequest(
                    "Failed to open the session. Check if a session with the same id is still open.", null);
        }
        return CompletableFuture.completedFuture(HttpBodies.json(200, TextNode.valueOf(id)));
    }

    private CompletionStage<HttpResponse> close(JsonBody body) {
        body.require("session_id");
        sessions.close(String.valueOf(body.text("session_id")));
        return CompletableFuture.completedFuture(HttpResponse.create());
    }
}

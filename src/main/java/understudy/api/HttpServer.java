package understudy.api;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpProtocols;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Directives;
import org.apache.pekko.http.javadsl.server.ExceptionHandler;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.japi.function.Function;
import org.apache.pekko.stream.KillSwitches;
import org.apache.pekko.stream.javadsl.Flow;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.http.AccessLog;
import understudy.api.http.ClientConnection;
import understudy.api.http.Dialect;
import understudy.api.http.GuardedHttp;
import understudy.api.http.HttpFailures;
import understudy.api.http.HttpSettings;
import understudy.api.http.PodNames;
import understudy.api.http.RoutePart;
import understudy.api.http.SameThread;
import understudy.api.http.TlsContexts;

/** HTTP server at one port. */
final class HttpServer {
    private final ActorSystem<?> system;
    private final ServerEdge edge;
    private final Dialect dialect;
    private final Function<HttpRequest, CompletionStage<HttpResponse>> routes;
    private final PodNames pod;
    private final @Nullable AccessLog accessLog;
    private volatile List<HttpHeader> podHeaders = List.of();

    HttpServer(ApiContext api, ServerEdge edge, Dialect dialect, List<RoutePart> parts) {
        system = api.system();
        this.edge = edge;
        this.dialect = dialect;
        pod = api.settings().pod();
        var surface = api.settings().surface();
        accessLog = surface.hasAccessLog() ? new AccessLog(System.out, surface.unlogged()) : null;
        var all = parts.stream().map(RoutePart::route).toArray(Route[]::new);
        var passingOn = ExceptionHandler.newBuilder()
                .matchAny(failure -> Directives.extractRequest(request -> Directives.complete(dialect.answer(
                        HttpFailures.error(failure), request.getUri().path()))))
                .build();
        var sealed = Directives.handleExceptions(passingOn, () -> Directives.concat(Directives.reject(), all));
        routes = sealed.seal().handler(system.classicSystem());
    }

    /** Returns the configuration of the HTTP library. */
    static Config config(HttpSettings settings) {
        var limits = settings.limits();
        var ofScenario = ConfigFactory.parseMap(Map.of(
                "pekko.http.server.idle-timeout", settings.timeouts().idle().toMillis() + " ms",
                "pekko.http.server.max-connections", limits.maxConnections(),
                "pekko.http.server.parsing.max-content-length", limits.maxBodyBytes()));
        var classLoader = HttpServer.class.getClassLoader();
        return ofScenario
                .withFallback(ConfigFactory.parseResources(classLoader, "understudy/api/http-server.conf"))
                .withFallback(ConfigFactory.load(classLoader));
    }

    CompletionStage<ServerBinding> bind(GuardedHttp http, String host, int port, HttpSettings.@Nullable Tls tls) {
        var context =
                tls == null ? ConnectionContext.noEncryption() : ConnectionContext.httpsServer(TlsContexts.of(tls));
        var bound = http.bind(host, port, context, new ServerLog(system), perConnection());
        return bound.thenApply(binding -> {
            podHeaders = pod.headers(binding.localAddress().getPort());
            return binding;
        });
    }

    /** The stream of a connection's requests ends when the client has closed it, even while answers are being sent. */
    private Flow<HttpRequest, HttpResponse, ?> perConnection() {
        return Flow.fromMaterializer((materializer, attributes) -> {
            var hangUp = KillSwitches.shared("hang-up");
            var connection = new ClientConnection(hangUp::shutdown);
            return Flow.<HttpRequest>create()
                    .watchTermination((before, closed) -> {
                        SameThread.after(closed)
                                .whenComplete((done, failure) -> connection.onRequestsEnded(failure != null));
                        return before;
                    })
                    .map(request -> arrived(request, connection))
                    .mapAsync(2, this::handle)
                    .map(response -> podHeaders.isEmpty() ? response : response.addHeaders(podHeaders))
                    .via(hangUp.flow());
        });
    }

    private CompletionStage<HttpResponse> handle(HttpRequest request) {
        var response = edge.handle(request, routes, dialect);
        return accessLog == null ? response : response.thenApply(made -> accessLog.logged(request, made));
    }

    private static HttpRequest arrived(HttpRequest request, ClientConnection connection) {
        int ordinal = connection.onRequest();
        boolean isLast = request.getHeader("Connection")
                .map(header -> header.value().equalsIgnoreCase("close"))
                .orElse(request.protocol().equals(HttpProtocols.HTTP_1_0));
        if (isLast) {
            connection.onLastRequest();
        }
        return request.addAttribute(ClientConnection.KEY, connection).addAttribute(ClientConnection.ORDINAL, ordinal);
    }
}

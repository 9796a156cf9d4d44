package understudy.chaos.gateway.reference;

import java.net.URI;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.HttpsConnectionContext;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpProtocols;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.javadsl.Flow;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ClientConnection;
import understudy.api.http.SameThread;
import understudy.chaos.gateway.GatewayUnderTest.Backend;
import understudy.runtime.Stopwatch;

/** HTTP side of the gateway: one {@link ProxiedCall} for each request. */
final class Proxy {
    private static final long BODY_MILLIS = 10_000;

    final ActorSystem<?> system;
    final ReplicaBook book;
    final Upstream upstream;
    final WrongDecision wrong;
    final List<URI> replicas;

    private final Stopwatch watch = Stopwatch.start();

    private final @Nullable HttpsConnectionContext tls;

    /** @param tls what connections to replicas need, or null for none */
    Proxy(ActorSystem<?> system, List<Backend> backends, @Nullable HttpsConnectionContext tls, WrongDecision wrong) {
        this.system = system;
        this.wrong = wrong;
        replicas = backends.stream().map(Backend::uri).toList();
        book = new ReplicaBook(replicas.size(), wrong);
        this.tls = tls;
        upstream = new Upstream(system, tls, wrong);
    }

    CompletionStage<ServerBinding> bind(int port) {
        if (wrong != WrongDecision.NO_HEALTH_CHECK) {
            HealthProbes.start(system, book, new Upstream(system, tls, WrongDecision.NONE), replicas);
        }
        return Http.get(system).newServerAt("127.0.0.1", port).bindFlow(perConnection());
    }

    /** Returns the time since the start. */
    long nowNanos() {
        return watch.nanos();
    }

    /** The stream of a connection's requests ends when the client has closed it, even while answers are being sent. */
    private Flow<HttpRequest, HttpResponse, ?> perConnection() {
        return Flow.fromMaterializer((materializer, attributes) -> {
            var connection = new ClientConnection(() -> {});
            return Flow.<HttpRequest>create()
                    .watchTermination((before, closed) -> {
                        SameThread.after(closed)
                                .whenComplete((done, failure) -> connection.onRequestsEnded(failure != null));
                        return before;
                    })
                    .mapAsync(2, request -> handle(request, connection));
        });
    }

    private CompletionStage<HttpResponse> handle(HttpRequest request, ClientConnection connection) {
        boolean isLast = request.getHeader("Connection")
                .map(header -> header.value().equalsIgnoreCase("close"))
                .orElse(request.protocol().equals(HttpProtocols.HTTP_1_0));
        if (isLast) {
            connection.onLastRequest();
        }
        if (request.method().equals(HttpMethods.GET) && request.getUri().path().equals("/health")) {
            request.discardEntityBytes(system);
            return CompletableFuture.completedFuture(HttpResponse.create().withStatus(book.hasWell() ? 200 : 503));
        }
        return request.entity().toStrict(BODY_MILLIS, system).thenCompose(body -> {
            var call = new ProxiedCall(this, request.withEntity(body), body.getData());
            connection.carry(call);
            return call.start();
        });
    }
}

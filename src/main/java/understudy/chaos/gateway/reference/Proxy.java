package understudy.chaos.gateway.reference;

import java.net.URI;
import java.util.ArrayList;
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
final class Proxy implements AutoCloseable {
    private static final long BODY_MILLIS = 10_000;

    final ActorSystem<?> system;
    final ReplicaBook book;
    final Upstream upstream;
    final WrongDecision wrong;
    final List<URI> replicas;

    private final Stopwatch watch = Stopwatch.start();
    private final @Nullable Signals signals;

    private final @Nullable HttpsConnectionContext tls;

    /** Sources of an informed gateway. */
    private record Signals(ChatTokens tokens, MetricsScrapes metrics, KvEventSubscriber events) {}

    /** @param tls what connections to replicas need, or null for none */
    Proxy(
            ActorSystem<?> system,
            List<Backend> backends,
            @Nullable HttpsConnectionContext tls,
            boolean isInformed,
            WrongDecision wrong) {
        this.system = system;
        this.wrong = wrong;
        replicas = backends.stream().map(Backend::uri).toList();
        book = new ReplicaBook(replicas.size(), isInformed, wrong);
        this.tls = tls;
        // Whoever waits for metrics waits for nothing else.
        upstream = new Upstream(system, tls, wrong == WrongDecision.WAITS_FOR_METRICS ? WrongDecision.NONE : wrong);
        signals = isInformed ? signals(backends) : null;
    }

    private Signals signals(List<Backend> backends) {
        List<@Nullable URI> events = new ArrayList<>();
        backends.forEach(backend -> events.add(backend.kvEvents()));
        return new Signals(
                new ChatTokens(),
                new MetricsScrapes(
                        system,
                        replicas,
                        new Upstream(system, tls, wrong),
                        (text, replica) -> book.onScraped(replica, text, nowNanos())),
                new KvEventSubscriber(events, (batch, replica) -> book.onKvEvents(replica, batch, nowNanos())));
    }

    CompletionStage<ServerBinding> bind(int port) {
        if (wrong != WrongDecision.NO_HEALTH_CHECK) {
            HealthProbes.start(system, book, new Upstream(system, tls, WrongDecision.NONE), replicas, wrong);
        }
        if (signals != null) {
            signals.metrics.start();
        }
        return Http.get(system).newServerAt("127.0.0.1", port).bindFlow(perConnection());
    }

    /** Reads the body of a request. */
    PromptText prompt(byte[] body) {
        return signals == null
                ? PromptText.of(body, wrong == WrongDecision.PREFIXES_BY_CHARACTERS)
                : PromptText.exactly(body, signals.tokens);
    }

    /** Completes when a replica may be chosen for a call that has come. */
    CompletionStage<Void> whenInformed() {
        return wrong == WrongDecision.WAITS_FOR_METRICS && signals != null
                ? signals.metrics.once()
                : CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
        if (signals != null) {
            signals.events.close();
        }
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

package understudy.chaos.gateway.reference;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.ClientTransport;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.HttpsConnectionContext;
import org.apache.pekko.http.javadsl.OutgoingConnection;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.settings.ClientConnectionSettings;
import org.apache.pekko.stream.SharedKillSwitch;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import understudy.api.http.SameThread;

/** Sends requests to replicas, each over a connection of its own. */
final class Upstream {
    /** Longest time to the head, and from there to the first byte and between any two. */
    private static final Duration PATIENCE = Duration.ofMillis(1_500);

    private static final Duration ENDLESS = Duration.ofDays(1);

    private final ActorSystem<?> system;
    private final @Nullable HttpsConnectionContext tls;
    private final WrongDecision wrong;
    private final Duration patience;

    /**
     * An answer of which the first bytes are there, or may have been.
     *
     * @param head status and headers
     * @param body all bytes, which must be read
     */
    record Begun(HttpResponse head, Source<ByteString, NotUsed> body) {}

    /** @param tls what connections need, or null for none */
    Upstream(ActorSystem<?> system, @Nullable HttpsConnectionContext tls, WrongDecision wrong) {
        this.system = system;
        this.tls = tls;
        this.wrong = wrong;
        boolean waitsForEver = wrong == WrongDecision.WAITS_FOR_EVER || wrong == WrongDecision.WAITS_FOR_METRICS;
        patience = waitsForEver ? ENDLESS : PATIENCE;
    }

    /** Sends a request; completes when the first bytes of the answer are there. */
    CompletionStage<Begun> send(URI replica, HttpRequest request, SharedKillSwitch kill) {
        return head(replica, request, kill).thenCompose(this::begun);
    }

    /** Sends a request; completes with the head of the answer. */
    CompletionStage<HttpResponse> head(URI replica, HttpRequest request, SharedKillSwitch kill) {
        var head = new CompletableFuture<HttpResponse>();
        Source<HttpRequest, NotUsed> requests = Source.single(request);
        if (wrong == WrongDecision.LEAKS_CONNECTIONS) {
            requests = requests.concat(Source.maybe());
        }
        var ended = requests.via(connection(replica, kill)).runWith(Sink.foreach(head::complete), system);
        SameThread.after(ended)
                .whenComplete((done, failure) -> head.completeExceptionally(
                        failure == null ? new IOException("closed before the head") : failure));
        return head.orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    private Flow<HttpRequest, HttpResponse, ?> connection(URI replica, SharedKillSwitch kill) {
        var settings =
                ClientConnectionSettings.create(system.classicSystem()).withTransport(new KillableTransport(kill));
        var connection = Http.get(system)
                .connectionTo(replica.getHost())
                .toPort(replica.getPort())
                .withClientConnectionSettings(settings);
        return tls == null
                ? connection.http()
                : connection.withCustomHttpsConnectionContext(tls).https();
    }

    /** TCP connection that ends when told to, in whatever state HTTP is. */
    private static final class KillableTransport extends ClientTransport {
        private final SharedKillSwitch kill;

        KillableTransport(SharedKillSwitch kill) {
            this.kill = kill;
        }

        @Override
        public Flow<ByteString, ByteString, CompletionStage<OutgoingConnection>> connectTo(
                String host,
                int port,
                ClientConnectionSettings settings,
                org.apache.pekko.actor.ActorSystem classicSystem) {
            var tcp = ClientTransport.TCP().connectTo(host, port, settings, classicSystem);
            return Flow.<ByteString>create()
                    .via(kill.flow())
                    .viaMat(tcp, Keep.right())
                    .via(kill.flow());
        }
    }

    /** A failure may overtake the bytes before it, so that it is not known whether there were any. */
    private CompletionStage<Begun> begun(HttpResponse head) {
        var first = head.entity()
                .withoutSizeLimit()
                .getDataBytes()
                .initialTimeout(patience)
                .idleTimeout(patience)
                .prefixAndTail(1)
                .runWith(Sink.head(), system);
        return SameThread.after(first)
                .thenApply(parts -> new Begun(head, Source.from(parts.first()).concat(parts.second())));
    }
}

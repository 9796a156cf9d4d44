package understudy.chaos.gateway.reference;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.DateTime;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.Date;
import org.apache.pekko.stream.KillSwitches;

/** Asks each replica for its health, over and over, and for its models if the gateway believes them. */
final class HealthProbes {
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final long PATIENCE_MILLIS = 1_000;

    /** Far more than an answer is under way, and far less than clocks differ by that are set wrong. */
    private static final long MAX_SKEW_MILLIS = 60_000;

    private final ActorSystem<?> system;
    private final ReplicaBook book;
    private final Upstream upstream;
    private final WrongDecision wrong;

    private HealthProbes(ActorSystem<?> system, ReplicaBook book, Upstream upstream, WrongDecision wrong) {
        this.system = system;
        this.book = book;
        this.upstream = upstream;
        this.wrong = wrong;
    }

    static void start(
            ActorSystem<?> system, ReplicaBook book, Upstream upstream, List<URI> replicas, WrongDecision wrong) {
        var probes = new HealthProbes(system, book, upstream, wrong);
        for (int i = 0; i < replicas.size(); i++) {
            probes.probe(i, replicas.get(i));
        }
    }

    private void probe(int replica, URI uri) {
        var kill = KillSwitches.shared("probe");
        CompletionStage<HttpResponse> probed = upstream.head(uri, HttpRequest.GET("/health"), kill)
                .toCompletableFuture()
                .orTimeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        probed.whenComplete((head, failure) -> {
            book.onProbed(replica, failure == null && head.status().isSuccess() && isOfNow(head));
            kill.shutdown();
            if (head != null) {
                head.discardEntityBytes(system);
            }
            if (wrong == WrongDecision.BELIEVES_MODEL_LISTS) {
                listModels(replica, uri);
            }
            system.scheduler().scheduleOnce(PAUSE, () -> probe(replica, uri), system.executionContext());
        });
    }

    private boolean isOfNow(HttpResponse head) {
        return wrong != WrongDecision.COMPARES_CLOCKS
                || head.getHeader(Date.class)
                        .map(date ->
                                Math.abs(date.date().clicks() - DateTime.now().clicks()) <= MAX_SKEW_MILLIS)
                        .orElse(true);
    }

    private void listModels(int replica, URI uri) {
        var kill = KillSwitches.shared("models");
        upstream.head(uri, HttpRequest.GET("/v1/models"), kill)
                .thenCompose(head -> head.entity().toStrict(PATIENCE_MILLIS, system))
                .whenComplete((body, failure) -> {
                    kill.shutdown();
                    if (body != null) {
                        book.onListed(replica, body.getData().decodeString(StandardCharsets.UTF_8));
                    }
                });
    }
}

package understudy.chaos.gateway.reference;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.KillSwitches;

/** Asks each replica for its health, over and over. */
final class HealthProbes {
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final long PATIENCE_MILLIS = 1_000;

    private final ActorSystem<?> system;
    private final ReplicaBook book;
    private final Upstream upstream;

    private HealthProbes(ActorSystem<?> system, ReplicaBook book, Upstream upstream) {
        this.system = system;
        this.book = book;
        this.upstream = upstream;
    }

    static void start(ActorSystem<?> system, ReplicaBook book, Upstream upstream, List<URI> replicas) {
        var probes = new HealthProbes(system, book, upstream);
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
            book.onProbed(replica, failure == null && head.status().isSuccess());
            kill.shutdown();
            if (head != null) {
                head.discardEntityBytes(system);
            }
            system.scheduler().scheduleOnce(PAUSE, () -> probe(replica, uri), system.executionContext());
        });
    }
}

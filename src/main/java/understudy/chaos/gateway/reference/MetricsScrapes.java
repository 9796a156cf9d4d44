package understudy.chaos.gateway.reference;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.KillSwitches;
import org.jspecify.annotations.Nullable;

/** Asks each replica for its metrics, over and over, beside the calls. */
final class MetricsScrapes {
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final long BODY_MILLIS = 1_000;
    private static final int MAX_BYTES = 1 << 22;

    private final ActorSystem<?> system;
    private final List<URI> replicas;
    private final ObjIntConsumer<@Nullable String> consumer;
    private final Upstream upstream;

    /**
     * Creates it.
     *
     * @param upstream how long it waits for an answer
     * @param consumer gets each replica's metrics, or null if there are none
     */
    MetricsScrapes(
            ActorSystem<?> system, List<URI> replicas, Upstream upstream, ObjIntConsumer<@Nullable String> consumer) {
        this.system = system;
        this.replicas = replicas;
        this.upstream = upstream;
        this.consumer = consumer;
    }

    /** Begins to ask, and does not end before the system does. */
    void start() {
        for (int i = 0; i < replicas.size(); i++) {
            repeat(i);
        }
    }

    private void repeat(int replica) {
        scrape(replica)
                .whenComplete((done, failure) ->
                        system.scheduler().scheduleOnce(PAUSE, () -> repeat(replica), system.executionContext()));
    }

    /** Asks all replicas once; completes when all have answered or failed. */
    CompletionStage<Void> once() {
        return CompletableFuture.allOf(IntStream.range(0, replicas.size())
                .mapToObj(i -> scrape(i).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
    }

    private CompletionStage<Void> scrape(int replica) {
        var kill = KillSwitches.shared("scrape");
        return upstream.head(replicas.get(replica), HttpRequest.GET("/metrics"), kill)
                .thenCompose(this::text)
                .handle((text, failure) -> {
                    kill.shutdown();
                    consumer.accept(failure == null ? text : null, replica);
                    return null;
                });
    }

    private CompletionStage<@Nullable String> text(HttpResponse head) {
        if (!head.status().isSuccess()) {
            head.discardEntityBytes(system);
            return CompletableFuture.completedFuture(null);
        }
        return head.entity()
                .withSizeLimit(MAX_BYTES)
                .toStrict(BODY_MILLIS, system)
                .thenApply(body -> body.getData().decodeString(StandardCharsets.UTF_8));
    }
}

package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.SinkQueueWithCancel;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** A buffer read as a stream. */
final class StreamSourceTest {
    private static final ActorSystem<Void> SYSTEM = ActorSystem.create(Behaviors.empty(), "streams");

    private final StreamBuffer<String> buffer = new StreamBuffer<>(100);
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final SinkQueueWithCancel<ByteString> reader = Source.fromGraph(
                    new StreamSource<String>(buffer, text -> "[" + text + "]", () -> closed.complete(null)))
            .runWith(Sink.queue(), SYSTEM);

    @AfterAll
    static void close() {
        SYSTEM.terminate();
    }

    @Test
    void waitingReader_getsEachElementWhenItComes_andTheEnd() throws Exception {
        var first = pull();
        buffer.offer("a");
        assertThat(get(first)).contains("[a]");

        buffer.offer("b");
        buffer.end();

        assertThat(get(pull())).contains("[b]");
        assertThat(get(pull())).isEmpty();
        closed.get(10, TimeUnit.SECONDS);
    }

    @Test
    void elementsThatPileUp_comeInOnePiece() throws Exception {
        var together = new StreamBuffer<String>(100);
        together.offer("b");
        together.offer("c");

        var pieces = Source.fromGraph(new StreamSource<String>(together, text -> "[" + text + "]", () -> {}))
                .take(1)
                .runWith(Sink.head(), SYSTEM);

        assertThat(pieces.toCompletableFuture().get(10, TimeUnit.SECONDS).utf8String())
                .isEqualTo("[b][c]");
    }

    @Test
    void failure_reachesTheReader() {
        buffer.fail(new IllegalStateException("cut"));

        assertThatThrownBy(() -> get(pull())).hasRootCauseMessage("cut");
    }

    @Test
    void readerWhoGoesAway_isTold() throws Exception {
        reader.cancel();

        closed.get(10, TimeUnit.SECONDS);
    }

    private CompletableFuture<Optional<ByteString>> pull() {
        return reader.pull().toCompletableFuture();
    }

    private static Optional<String> get(CompletableFuture<Optional<ByteString>> pulled) throws Exception {
        return pulled.get(10, TimeUnit.SECONDS).map(ByteString::utf8String);
    }
}

package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.scaladsl.model.HttpEntity;
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
            .map(HttpEntity.ChunkStreamPart::data)
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
                .map(HttpEntity.ChunkStreamPart::data)
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
    void cutStream_deliversWhatWaits_andEndsWithABrokenChunk() throws Exception {
        var cut = new StreamBuffer<String>(100);
        cut.offer("a");
        cut.offer("b");
        cut.fail(new CutException(() -> false));

        var parts = Source.fromGraph(new StreamSource<String>(cut, text -> text, () -> {}))
                .runWith(Sink.seq(), SYSTEM)
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS);

        assertThat(parts).hasSize(2);
        assertThat(parts.get(0).data().utf8String()).isEqualTo("ab");
        assertThat(parts.get(1)).isInstanceOf(BrokenChunk.class);
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

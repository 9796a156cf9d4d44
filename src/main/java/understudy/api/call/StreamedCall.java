package understudy.api.call;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.scaladsl.model.HttpEntity;
import org.apache.pekko.stream.javadsl.Source;
import understudy.api.http.ApiException;
import understudy.api.http.Arrival;
import understudy.api.http.ClientConnection;
import understudy.api.http.HttpMetrics;

/** Passes the pieces of an answer on to a reader, which may be slow: the emulation never waits. */
public final class StreamedCall implements Consumer<CallEvent> {
    private final CallFormat format;
    private final ClientConnection connection;
    private final int ordinal;
    private final HttpMetrics metrics;
    private final StreamBuffer<CallEvent> buffer;
    private final Call call;
    private final CompletableFuture<Void> admitted = new CompletableFuture<>();

    StreamedCall(ApiContext api, CallFormat format, ClientConnection connection, int ordinal) {
        this.ordinal = ordinal;
        this.format = format;
        this.connection = connection;
        metrics = api.metrics();
        buffer = new StreamBuffer<>(api.settings().http().limits().streamBuffer());
        call = new Call(api.link(), this);
        // A call that was given up ends its stream, or the library would wait for more.
        call.done().whenComplete((done, failure) -> {
            buffer.end();
            refuse(ApiException.badRequest("The client has gone away.", null));
        });
    }

    Call call() {
        return call;
    }

    /**
     * Starts the call; its stream begins when a replica has the request: until then an error is a status of its own.
     */
    CompletionStage<Source<HttpEntity.ChunkStreamPart, NotUsed>> begin(List<Generation.Spec> specs, Arrival arrival) {
        call.start(specs, arrival);
        return admitted.thenApply(ok -> Source.fromGraph(new StreamSource<>(buffer, format::text, this::onRead)));
    }

    /** A connection does not outlive an answer that was cut. */
    private void onRead() {
        call.close();
        if (buffer.failure() != null) {
            connection.hangUp();
        }
    }

    @Override
    public void accept(CallEvent event) {
        if (event instanceof CallEvent.Piece piece) {
            add(piece);
        } else if (event instanceof CallEvent.Admitted) {
            admitted.complete(null);
        } else if (event instanceof CallEvent.Failed failed) {
            refuse(failed.failure());
            buffer.endWith(failed);
        } else if (event instanceof CallEvent.Cut cut) {
            refuse(cut.failure());
            // The library would answer a request that waits behind this one, in the middle of the body.
            buffer.fail(new CutException(() -> cut.isReset() || connection.hasRequestBehind(ordinal)));
        }
    }

    /** Answers with an error in place of a stream, if there is none yet. */
    private void refuse(ApiException failure) {
        if (admitted.completeExceptionally(failure)) {
            call.close();
        }
    }

    private void add(CallEvent.Piece piece) {
        if (!buffer.offer(piece)) {
            metrics.onStreamCut();
            buffer.endWith(new CallEvent.Failed(tooSlow()));
            call.cancel();
        } else if (piece.isLast()) {
            buffer.end();
        }
    }

    private static ApiException tooSlow() {
        return new ApiException(500, "InternalServerError", "The stream was cut: its reader was too slow.", null);
    }
}

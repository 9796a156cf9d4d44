package understudy.api.call;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.scaladsl.model.HttpEntity;
import org.apache.pekko.stream.javadsl.Source;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.Arrival;
import understudy.api.http.ClientConnection;
import understudy.api.http.HttpMetrics;

/** Passes the pieces of an answer on to a reader, who may be slow: the emulation never waits. */
public final class StreamedCall implements Call.Listener {
    private final CallFormat format;
    private final ClientConnection connection;
    private final int ordinal;
    private final HttpMetrics metrics;
    private final StreamBuffer<Piece> buffer;
    private final Call call;
    private final CompletableFuture<Void> admitted = new CompletableFuture<>();
    private int numOpen;

    /** Buffered element: a piece of an answer, or the failure that ends the stream. */
    private record Piece(
            @Nullable Generation generation,
            @Nullable Delta delta,
            boolean isLast,
            @Nullable ApiException failure) {

        static Piece of(ApiException failure) {
            return new Piece(null, null, true, failure);
        }

        String text(CallFormat format) {
            if (failure != null) {
                return format.failure(failure);
            }
            if (generation == null || delta == null) {
                return "";
            }
            String whole = format.events(generation, delta);
            String events = generation.isMalformed(delta) ? CallFormat.malformed(whole) : whole;
            return isLast ? events + format.end() : events;
        }
    }

    StreamedCall(ApiContext api, int numChoices, CallFormat format, ClientConnection connection, int ordinal) {
        this.ordinal = ordinal;
        this.format = format;
        this.connection = connection;
        metrics = api.metrics();
        numOpen = numChoices;
        buffer = new StreamBuffer<>(api.settings().http().limits().streamBuffer());
        call = new Call(api.cluster(), this);
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
        return admitted.thenApply(
                ok -> Source.fromGraph(new StreamSource<>(buffer, piece -> piece.text(format), this::onRead)));
    }

    /** A connection does not outlive an answer that was cut. */
    private void onRead() {
        call.close();
        if (buffer.failure() != null) {
            connection.hangUp();
        }
    }

    @Override
    public void onAdmitted() {
        admitted.complete(null);
    }

    /** Answers with an error in place of a stream, if there is none yet. */
    private void refuse(ApiException failure) {
        if (admitted.completeExceptionally(failure)) {
            call.close();
        }
    }

    @Override
    public void onDelta(Generation generation, Delta delta) {
        numOpen -= delta.ending() == null ? 0 : 1;
        boolean isLast = numOpen == 0;
        if (!buffer.offer(new Piece(generation, delta, isLast, null))) {
            metrics.onStreamCut();
            buffer.endWith(Piece.of(tooSlow()));
            call.cancel();
        } else if (isLast) {
            buffer.end();
        }
    }

    private static ApiException tooSlow() {
        return new ApiException(500, "InternalServerError", "The stream was cut: its reader was too slow.", null);
    }

    @Override
    public void onCut(ApiException failure, boolean isReset) {
        refuse(failure);
        // The library would answer a request that waits behind this one, in the middle of the body.
        buffer.fail(new CutException(() -> isReset || connection.hasRequestBehind(ordinal)));
    }

    @Override
    public void onFailed(ApiException failure) {
        refuse(failure);
        buffer.endWith(Piece.of(failure));
    }
}

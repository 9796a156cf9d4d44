package understudy.api.call;

import java.util.function.Function;
import org.apache.pekko.http.scaladsl.model.HttpEntity;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.SourceShape;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.util.ByteString;

/**
 * Reads a {@link StreamBuffer} into the body of a response. It runs within the stream of its connection, where {@code
 * Source.queue} would be an actor of its own and cost two more messages for each token. A reader who has fallen behind
 * gets what has piled up in one piece. A stream that was cut ends with a {@link BrokenChunk}.
 */
final class StreamSource<T> extends GraphStage<SourceShape<HttpEntity.ChunkStreamPart>> {
    private static final int MAX_CHARS_AT_ONCE = 1 << 16;

    private final Outlet<HttpEntity.ChunkStreamPart> out = Outlet.create("events");
    private final SourceShape<HttpEntity.ChunkStreamPart> shape = SourceShape.of(out);
    private final StreamBuffer<T> buffer;
    private final Function<T, String> renderer;
    private final Runnable onClosed;

    /**
     * Creates a source.
     *
     * @param renderer makes text of an element; called on the reader's thread
     * @param onClosed called when nothing more will be read, for any reason
     */
    StreamSource(StreamBuffer<T> buffer, Function<T, String> renderer, Runnable onClosed) {
        this.buffer = buffer;
        this.renderer = renderer;
        this.onClosed = onClosed;
    }

    @Override
    public SourceShape<HttpEntity.ChunkStreamPart> shape() {
        return shape;
    }

    @Override
    public GraphStageLogic createLogic(Attributes inheritedAttributes) {
        return new Logic();
    }

    private final class Logic extends GraphStageLogic {
        private final StringBuilder text = new StringBuilder();

        Logic() {
            super(shape);
            setHandler(out, new AbstractOutHandler() {
                @Override
                public void onPull() {
                    deliver();
                }
            });
        }

        @Override
        public void preStart() {
            var more = createAsyncCallback((Boolean ignored) -> deliver());
            buffer.onMore(() -> more.invoke(true));
        }

        private void deliver() {
            if (!isAvailable(out)) {
                return;
            }
            for (T next = buffer.poll(); next != null; next = buffer.poll()) {
                text.append(renderer.apply(next));
                if (text.length() >= MAX_CHARS_AT_ONCE) {
                    break;
                }
            }
            if (text.length() > 0) {
                var bytes = ByteString.fromString(text.toString());
                text.setLength(0);
                push(out, new HttpEntity.Chunk(bytes, ""));
            }
            if (buffer.isExhausted()) {
                finish();
            }
        }

        private void finish() {
            var failure = buffer.failure();
            if (failure == null) {
                complete(out);
            } else if (failure instanceof CutException cut && !cut.isReset()) {
                // Behind what has just been pushed; completes the stream, too.
                emit(out, new BrokenChunk(), () -> complete(out));
            } else {
                fail(out, failure);
            }
        }

        @Override
        public void postStop() {
            onClosed.run();
        }
    }
}

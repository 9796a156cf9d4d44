package understudy.api.call;

import org.apache.pekko.http.scaladsl.model.HttpEntity;
import org.apache.pekko.util.ByteString;

/**
 * End of a chunked body that no client takes for its end: a chunk that announces more bytes than follow. To fail the
 * stream instead would reset its connection, which throws away what the client has not read yet.
 *
 * <p>The library ends a body by its last chunk, and writes the size of any data that the last chunk has, but not the data.
 */
final class BrokenChunk extends HttpEntity.LastChunk {
    private static final long serialVersionUID = 1L;

    /** Line ends, which mean nothing in a stream of events, should a body that is not chunked show them. */
    private static final ByteString ANNOUNCED = ByteString.fromString("\n".repeat(16));

    BrokenChunk() {
        super("", HttpEntity.LastChunk$.MODULE$.trailer());
    }

    @Override
    public ByteString data() {
        return ANNOUNCED;
    }
}

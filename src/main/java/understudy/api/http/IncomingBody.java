package understudy.api.http;

import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import org.apache.pekko.Done;
import org.apache.pekko.util.ByteString;
import org.apache.pekko.util.ByteStringBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Request body that is received piece by piece. One that there is no room for is read to its end before it is refused:
 * a connection closed on a client that is still sending takes the answer with it, and the client sees a reset.
 */
final class IncomingBody {
    /** Most bytes that are still read of a refused body. */
    private static final long MAX_DROPPED_BYTES = 64L << 20;

    /** Most memory per byte while it is read as JSON: its bytes, its characters twice, and its text. */
    static final int MEMORY_PER_BYTE = 6;

    private final BodyMemory.Share share;
    private final long maxBytes;
    private final long maxDropped;
    private final long announced;
    private ByteStringBuilder parts = ByteString.createBuilder();
    private @Nullable ApiException refusal;
    private long numBytes;

    /**
     * Takes memory for all of a body whose length is known.
     *
     * @param isPacked whether it is unpacked as it comes: a little that is read on may be a lot then, so it is not
     */
    IncomingBody(BodyMemory.Share share, long maxBytes, OptionalLong length, boolean isPacked) {
        this.share = share;
        this.maxBytes = maxBytes;
        maxDropped = isPacked ? 0 : MAX_DROPPED_BYTES;
        announced = length.orElse(0);
        requireRoom(announced);
    }

    private void requireRoom(long length) {
        if (length > maxBytes) {
            refuse(ApiException.plain(413, "Request Entity Too Large"));
        } else if (!share.growTo(length * MEMORY_PER_BYTE)) {
            refuse(noRoom());
        }
    }

    private void refuse(ApiException why) {
        refusal = why;
        parts = ByteString.createBuilder();
        share.close();
    }

    /** Returns the error for a body that there is no memory for now. */
    static ApiException noRoom() {
        return new ApiException(
                503,
                "ServiceUnavailable",
                "There is no memory left for the body of this request. Try again later.",
                null);
    }

    /** Adds received bytes. */
    IncomingBody add(ByteString part) {
        numBytes += part.size();
        if (refusal == null) {
            requireRoom(numBytes);
        }
        if (refusal == null) {
            parts.append(part);
        } else if (Math.max(numBytes, announced) > maxDropped) {
            throw refusal;
        }
        return this;
    }

    boolean isRefused() {
        return refusal != null;
    }

    /**
     * Fails with the failure of reading, unless the body is refused; a refusal counts even if reading has failed then.
     */
    Done orElseFail(Throwable failure) {
        if (refusal == null) {
            throw failure instanceof CompletionException known ? known : new CompletionException(failure);
        }
        return Done.getInstance();
    }

    /** Returns the whole body, or throws why it is refused. */
    ByteString whole() {
        if (refusal != null) {
            throw refusal;
        }
        return parts.result();
    }
}

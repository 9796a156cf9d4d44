package understudy.chaos.wire;

import java.io.EOFException;
import java.io.IOException;

/** The parts of a body as they come: its chunks, or what each read brings. */
public final class BodyParts {
    private static final byte[] END = new byte[0];
    private static final int MAX_PART_BYTES = 16384;
    private static final int MAX_CHUNK_BYTES = 1 << 24;

    private final Wire wire;
    private final boolean isChunked;
    /** Bytes that are still to come, or -1 where the end of the connection ends the body. */
    private long rest;

    private boolean hasEnded;

    private BodyParts(Wire wire, boolean isChunked, long rest) {
        this.wire = wire;
        this.isChunked = isChunked;
        this.rest = rest;
    }

    /** Returns the body of a request, which is empty unless the head says otherwise. */
    public static BodyParts ofRequest(HttpHead head, Wire wire) throws IOException {
        return new BodyParts(wire, head.isChunked(), Math.max(0, head.contentLength()));
    }

    /** Returns the body of a response to a request by this method. */
    public static BodyParts ofResponse(HttpHead head, String method, Wire wire) throws IOException {
        int status = head.status();
        boolean hasNone = method.equals("HEAD") || status == 204 || status == 304 || status / 100 == 1;
        return new BodyParts(wire, head.isChunked() && !hasNone, hasNone ? 0 : head.contentLength());
    }

    /** Returns whether it comes in chunks. */
    public boolean isChunked() {
        return isChunked;
    }

    /**
     * Returns the next part, or an empty one once the whole body has come.
     *
     * @throws EOFException if the other side ends before the body does
     */
    public byte[] next(Wire.Waiting waiting) throws IOException {
        if (hasEnded) {
            return END;
        }
        byte[] part = isChunked ? chunk(waiting) : piece(waiting);
        hasEnded = part.length == 0;
        return part;
    }

    private byte[] chunk(Wire.Waiting waiting) throws IOException {
        int size = chunkSize(wire.readLine(waiting));
        byte[] bytes = wire.readFully(size, waiting);
        String end = wire.readLine(waiting);
        // Behind the last chunk there may be trailers.
        while (size == 0 && !end.isEmpty()) {
            end = wire.readLine(waiting);
        }
        if (!end.isEmpty()) {
            throw new MalformedBodyException("a chunk of " + size + " bytes goes on behind them");
        }
        return bytes;
    }

    private static int chunkSize(String line) throws IOException {
        String digits = line.replaceFirst(";.*", "").strip();
        if (!digits.matches("[0-9a-fA-F]{1,7}") || Integer.parseInt(digits, 16) > MAX_CHUNK_BYTES) {
            throw new MalformedBodyException("a chunk has the size \"" + digits + "\"");
        }
        return Integer.parseInt(digits, 16);
    }

    private byte[] piece(Wire.Waiting waiting) throws IOException {
        if (rest == 0) {
            return END;
        }
        byte[] piece = wire.readSome((int) (rest < 0 ? MAX_PART_BYTES : Math.min(rest, MAX_PART_BYTES)), waiting);
        if (rest > 0) {
            if (piece.length == 0) {
                throw new EOFException(rest + " bytes of the body are missing");
            }
            rest -= piece.length;
        }
        return piece;
    }
}

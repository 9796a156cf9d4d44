package understudy.chaos.proxy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.chaos.proxy.ReplicaFault.Kind;

/**
 * What a fault makes of a response's body, part by part, and the framing of what is passed on. It only decides: it
 * neither waits nor sends.
 */
final class BodyBreaker {
    private static final byte[] NOTHING = new byte[0];

    private final @Nullable ReplicaFault fault;
    private final boolean isStream;
    private final boolean isChunked;
    private int numParts;

    /** What is to be done behind a part. */
    enum Then {
        GO_ON,
        CLOSE,
        RESET,
        HANG
    }

    /** What becomes of a part. */
    static final class Passage {
        private final byte[] body;
        private final byte[] framed;
        private final Then then;

        private Passage(byte[] body, byte[] framed, Then then) {
            this.body = body;
            this.framed = framed;
            this.then = then;
        }

        /** Returns the bytes of the body that are passed on. */
        byte[] body() {
            return body;
        }

        /** Returns these bytes as they are sent: in a chunk, where the body has chunks. */
        byte[] framed() {
            return framed;
        }

        /** Returns what is to be done when they are sent. */
        Then then() {
            return then;
        }
    }

    /** @param isStream whether the body is of server-sent events */
    BodyBreaker(Optional<ReplicaFault> fault, boolean isStream, boolean isChunked) {
        this.fault = fault.orElse(null);
        this.isStream = isStream;
        this.isChunked = isChunked;
    }

    /** Returns whether the body must be there as a whole to be broken. */
    boolean breaksWhole() {
        return !isStream && fault != null && fault.kind() == Kind.BROKEN_JSON;
    }

    /** Returns how long each part is held back. */
    int delayMillis() {
        return fault != null && fault.kind() == Kind.SLOW_BODY ? fault.delayMillis() : 0;
    }

    /** Returns what becomes of the next part of the body. */
    Passage next(byte[] part) {
        if (fault == null) {
            return passed(part);
        }
        boolean isHere = numParts == (isStream ? fault.afterEvents() : 0);
        numParts++;
        if (fault.kind() == Kind.NO_DONE) {
            return passed(bytes(text(part).replaceFirst("data: \\[DONE]\\s*", "")));
        }
        return isHere ? struck(part, fault.kind()) : passed(part);
    }

    private Passage struck(byte[] part, Kind kind) {
        return switch (kind) {
            case STALL -> new Passage(NOTHING, NOTHING, Then.HANG);
            case CUT -> cut(part, Then.CLOSE);
            case RESET_MID_STREAM -> cut(part, Then.RESET);
            case TRUNCATED_CHUNK -> truncated(part);
            case BROKEN_JSON -> passed(halfOfEvent(part));
            // One line end instead of two: the next event's line belongs to the same event.
            case BROKEN_SSE -> passed(bytes(text(part).replaceFirst("\n\n", "\n")));
            default -> passed(part);
        };
    }

    private Passage passed(byte[] body) {
        return new Passage(body, isChunked && body.length > 0 ? chunk(body) : body, Then.GO_ON);
    }

    /** A body without chunks is cut within a part, and one with chunks between two of them. */
    private Passage cut(byte[] part, Then then) {
        byte[] body = isChunked ? NOTHING : half(part);
        return new Passage(body, body, then);
    }

    private Passage truncated(byte[] part) {
        byte[] body = half(part);
        var framed = new ByteArrayOutputStream();
        if (isChunked) {
            framed.writeBytes(size(part));
        }
        framed.writeBytes(body);
        return new Passage(body, framed.toByteArray(), Then.CLOSE);
    }

    /** Returns what is sent behind the last part. */
    byte[] end() {
        return isChunked ? bytes("0\r\n\r\n") : NOTHING;
    }

    private static byte[] chunk(byte[] body) {
        var framed = new ByteArrayOutputStream(body.length + 12);
        framed.writeBytes(size(body));
        framed.writeBytes(body);
        framed.writeBytes(bytes("\r\n"));
        return framed.toByteArray();
    }

    private static byte[] size(byte[] body) {
        return bytes(Integer.toHexString(body.length) + "\r\n");
    }

    /** Returns the first half of a body, or of a part of it. */
    static byte[] half(byte[] part) {
        return Arrays.copyOf(part, part.length / 2);
    }

    /** A part may have several events: the last one with JSON is cut in its middle, so that none is lost unseen. */
    private static byte[] halfOfEvent(byte[] part) {
        String text = text(part);
        int begin = Math.max(0, text.lastIndexOf("data: {"));
        int end = text.indexOf("\n\n", begin);
        int middle = (begin + (end < 0 ? text.length() : end + 2)) / 2;
        return bytes(text.substring(0, middle) + "\n\n");
    }

    private static String text(byte[] part) {
        return new String(part, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}

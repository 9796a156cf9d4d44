package understudy.workload.agentic;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Lines of a file, each an input of its own, so that none of them need be held. */
final class TextLines {
    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int limit;
    private long line;
    private boolean isInLine;

    TextLines(InputStream in) {
        this.in = in;
    }

    /** Returns the next line that is not blank, or null at the end; the one before is passed over. */
    @Nullable InputStream next() throws IOException {
        while (isInLine) {
            isInLine = takeByte() >= 0;
        }
        line++;
        for (int next = peekByte(); next >= 0 && next <= ' '; next = peekByte()) {
            line += next == '\n' ? 1 : 0;
            position++;
        }
        isInLine = peekByte() >= 0;
        return isInLine ? new Line() : null;
    }

    /** Returns the number of the latest line, from 1. */
    long line() {
        return line;
    }

    private int peekByte() throws IOException {
        if (position == limit) {
            position = 0;
            limit = Math.max(0, in.read(buffer, 0, BUFFER_BYTES));
        }
        return limit == 0 ? -1 : buffer[position] & 0xff;
    }

    /** Returns the next byte of the line, or -1 at its end. */
    private int takeByte() throws IOException {
        int next = peekByte();
        position += next < 0 ? 0 : 1;
        return next == '\n' ? -1 : next;
    }

    /** Stream of the rest of the current line. */
    private final class Line extends InputStream {
        @Override
        public int read() throws IOException {
            int next = isInLine ? takeByte() : -1;
            isInLine = next >= 0;
            return next;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int count = 0;
            for (int next = read(); next >= 0; next = count < length ? read() : -1) {
                bytes[offset + count++] = (byte) next;
            }
            return count == 0 && length > 0 ? -1 : count;
        }
    }
}

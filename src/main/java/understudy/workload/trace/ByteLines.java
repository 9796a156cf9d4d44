package understudy.workload.trace;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/**
 * The lines of a file as bytes where they lie in a buffer, since a trace may have hundreds of megabytes. A line holds
 * until the next one is read, and has no line break; a byte order mark before the first one is passed over.
 */
final class ByteLines implements Closeable {
    private static final int BUFFER_BYTES = 1 << 18;
    /** 16 MiB; a line of the longest prompts has less than a tenth. */
    static final int MAX_LINE_BYTES = 1 << 24;

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private final InputStream in;
    private final String file;
    private byte[] buffer = new byte[BUFFER_BYTES];
    private int bufferEnd;
    private int start;
    private int end = -1;
    private long number;

    /** Reads from {@code in}, which is closed with this; the file's name is for messages. */
    ByteLines(InputStream in, String file) {
        this.in = in;
        this.file = file;
    }

    /**
     * Goes to the next line, and returns whether there is one.
     *
     * @throws TraceException if the file cannot be read, or a line is beyond all measure
     */
    boolean next() {
        start = end + 1;
        end = start;
        boolean isAtEnd = false;
        while (!isAtEnd && !findEnd()) {
            isAtEnd = !fill();
        }
        if (isAtEnd && start >= bufferEnd) {
            return false;
        }
        number++;
        if (number == 1 && startsWithByteOrderMark()) {
            start += BYTE_ORDER_MARK.length;
        }
        return true;
    }

    /** Returns the line's number, from 1. */
    long number() {
        return number;
    }

    /** Returns the buffer with the line, from {@link #start}, for {@link #length} bytes. */
    byte[] bytes() {
        return buffer;
    }

    int start() {
        return start;
    }

    int length() {
        return end - start;
    }

    /** Returns whether a line break follows. */
    boolean hasBreak() {
        return end < bufferEnd;
    }

    boolean isBlank() {
        for (int i = start; i < end; i++) {
            if (buffer[i] != ' ' && buffer[i] != '\t' && buffer[i] != '\r') {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Looks for a line break in the bytes read so far. */
    private boolean findEnd() {
        while (end < bufferEnd && buffer[end] != '\n') {
            end++;
        }
        return end < bufferEnd;
    }

    /** Makes room behind the line that has begun, and reads on; returns whether there was anything. */
    private boolean fill() {
        if (start > 0) {
            int kept = Math.max(0, bufferEnd - start);
            System.arraycopy(buffer, Math.min(start, bufferEnd), buffer, 0, kept);
            end -= start;
            start = 0;
            bufferEnd = kept;
        }
        if (bufferEnd == buffer.length) {
            if (buffer.length > MAX_LINE_BYTES) {
                throw new TraceException(file, number + 1, "the line is longer than " + MAX_LINE_BYTES + " bytes");
            }
            buffer = Arrays.copyOf(buffer, Math.min(2 * buffer.length, MAX_LINE_BYTES + 1));
        }
        int numRead = read();
        bufferEnd += Math.max(0, numRead);
        return numRead > 0;
    }

    private int read() {
        try {
            return in.read(buffer, bufferEnd, buffer.length - bufferEnd);
        } catch (IOException e) {
            throw TraceFile.unreadable(file, e);
        }
    }

    private boolean startsWithByteOrderMark() {
        int length = BYTE_ORDER_MARK.length;
        return length() >= length && Arrays.equals(buffer, start, start + length, BYTE_ORDER_MARK, 0, length);
    }
}

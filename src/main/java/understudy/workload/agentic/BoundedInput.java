package understudy.workload.agentic;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import understudy.workload.trace.TraceException;

/** Input that fails when it turns out longer than a session can be, as what a small archive unpacks to may be. */
final class BoundedInput extends FilterInputStream {
    private final long maxBytes;
    private final String file;
    private final long line;
    private long numBytes;

    /**
     * Limits the input of a session.
     *
     * @param file where the session stands, for messages
     * @param line in which it begins, from 1
     */
    BoundedInput(InputStream in, long maxBytes, String file, long line) {
        super(in);
        this.maxBytes = maxBytes;
        this.file = file;
        this.line = line;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int numRead = super.read(bytes, offset, length);
        numBytes += Math.max(0, numRead);
        if (numBytes > maxBytes) {
            throw new TraceException(file, line, "the session is longer than " + maxBytes + " bytes");
        }
        return numRead;
    }
}

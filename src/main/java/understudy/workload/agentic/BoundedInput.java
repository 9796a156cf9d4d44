package understudy.workload.agentic;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Input that fails when it turns out longer than a session can be, as what a small archive unpacks to may be. */
final class BoundedInput extends FilterInputStream {
    private final long maxBytes;
    private long numBytes;

    BoundedInput(InputStream in, long maxBytes) {
        super(in);
        this.maxBytes = maxBytes;
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
            throw new IOException("more than " + maxBytes + " bytes in one session");
        }
        return numRead;
    }
}

package understudy.workload.trace;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Counts the bytes that are read, so that one can tell how far a reader has come. */
public final class CountedInput extends FilterInputStream {
    private long numBytes;

    public CountedInput(InputStream in) {
        super(in);
    }

    public long numBytes() {
        return numBytes;
    }

    @Override
    public int read() throws IOException {
        int read = super.read();
        numBytes += read < 0 ? 0 : 1;
        return read;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int numRead = super.read(bytes, offset, length);
        numBytes += Math.max(0, numRead);
        return numRead;
    }
}

package understudy.workload.trace;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Limit on what a compressed file may expand to, so that a small one made for it cannot keep a reader busy for hours. */
final class ExpansionLimit extends FilterInputStream {
    /** Text of numbers shrinks to a tenth; zeros alone to a thousandth. */
    private static final int MAX_RATIO = 200;

    private static final long ALWAYS_ALLOWED_BYTES = 1 << 26;

    private final CountedInput compressed;
    private final String file;
    private long numBytes;

    /**
     * Limits what is read.
     *
     * @param in what comes out
     * @param compressed what goes in
     */
    ExpansionLimit(InputStream in, CountedInput compressed, String file) {
        super(in);
        this.compressed = compressed;
        this.file = file;
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
        if (numBytes > ALWAYS_ALLOWED_BYTES && numBytes > MAX_RATIO * compressed.numBytes()) {
            throw new TraceException(
                    file, "expands to more than " + MAX_RATIO + " times its size, which no trace does");
        }
        return numRead;
    }

    /** Reads what is skipped, since that counts, too. */
    @Override
    public long skip(long count) throws IOException {
        return readNBytes((int) Math.min(count, 1 << 16)).length;
    }
}

package understudy.workload.files;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;

/** Input that counts the bytes read, and calls a check with their number, which may refuse more. */
public final class CountedInput extends FilterInputStream {
    private static final int MAX_SKIP_BYTES = 1 << 16;

    private final LongConsumer check;
    private long numBytes;

    public CountedInput(InputStream in) {
        this(in, numBytes -> {});
    }

    /**
     * Counts the bytes read.
     *
     * @param check takes the number of bytes so far after each read, and throws if they are too many
     */
    public CountedInput(InputStream in, LongConsumer check) {
        super(in);
        this.check = check;
    }

    public long numBytes() {
        return numBytes;
    }

    @Override
    public int read() throws IOException {
        int read = super.read();
        add(read < 0 ? 0 : 1);
        return read;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int numRead = super.read(bytes, offset, length);
        add(Math.max(0, numRead));
        return numRead;
    }

    /** Reads the skipped bytes, since they count, too. */
    @Override
    public long skip(long count) throws IOException {
        return readNBytes((int) Math.min(count, MAX_SKIP_BYTES)).length;
    }

    private void add(int count) {
        numBytes += count;
        check.accept(numBytes);
    }
}

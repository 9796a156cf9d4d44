package understudy.workload.files;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** Opens workload files, compressed by gzip or not; their content decides, not their name. */
public final class TraceFile {
    private static final int GZIP_MAGIC = 0x1f8b;
    private static final int BUFFER_BYTES = 1 << 16;

    private TraceFile() {}

    /** Opens a file for reading; a gzip'd one is decompressed on the way. */
    public static InputStream open(Path file) {
        try {
            return decompressed(Files.newInputStream(file));
        } catch (IOException e) {
            throw unreadable(file.toString(), e);
        }
    }

    /** Returns the content of a stream that may be gzip'd. */
    public static InputStream decompressed(InputStream in) throws IOException {
        var raw = new BufferedInputStream(new Unseekable(in), BUFFER_BYTES);
        return isGzip(raw) ? new GZIPInputStream(raw, BUFFER_BYTES) : raw;
    }

    /** Returns the exception for a file that the system, or its compression, does not let us read. */
    public static TraceException unreadable(String file, IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return new TraceException(file, "no such file");
        }
        String why = cause instanceof EOFException ? "it ends in the middle" : cause.getMessage();
        return new TraceException(file, "cannot be read: " + why);
    }

    private static boolean isGzip(BufferedInputStream in) throws IOException {
        in.mark(2);
        int magic = in.read() << 8 | in.read();
        in.reset();
        return magic == GZIP_MAGIC;
    }

    /**
     * Input that may be a pipe. To say how much is left, the JDK's stream of a path asks for a position, which a pipe has
     * not, and fails; code that reads ahead asks.
     */
    private static final class Unseekable extends FilterInputStream {
        Unseekable(InputStream in) {
            super(in);
        }

        /** Says that there may be more: only then does the JDK look for another member behind the end of a gzip'd one. */
        @Override
        public int available() {
            return 1;
        }
    }
}

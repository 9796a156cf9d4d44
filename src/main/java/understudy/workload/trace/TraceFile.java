package understudy.workload.trace;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** Opens workload files, compressed by gzip or not; what counts is their content, not their name. */
public final class TraceFile {
    private static final int GZIP_MAGIC = 0x1f8b;
    private static final int BUFFER_BYTES = 1 << 16;

    @FunctionalInterface
    private interface Unpacker {
        InputStream unpack(InputStream in) throws IOException;
    }

    private TraceFile() {}

    /** Opens a file for reading; a gzip'd one is decompressed on the way. */
    public static InputStream open(Path file) {
        return open(file, TraceFile::decompressed);
    }

    /** Opens a file likewise; reading fails with a {@link TraceException} if it expands beyond all measure. */
    static InputStream openLimited(Path file) {
        return open(file, in -> {
            var compressed = new CountedInput(in);
            return new ExpansionLimit(decompressed(compressed), compressed, file.toString());
        });
    }

    private static InputStream open(Path file, Unpacker unpacker) {
        try {
            return unpacker.unpack(Files.newInputStream(file));
        } catch (NoSuchFileException e) {
            throw new TraceException(file.toString(), "no such file");
        } catch (IOException e) {
            throw unreadable(file.toString(), e);
        }
    }

    /** Returns the content of what may be gzip'd. */
    public static InputStream decompressed(InputStream in) throws IOException {
        var raw = new BufferedInputStream(new UnseekableInput(in), BUFFER_BYTES);
        return isGzip(raw) ? new GZIPInputStream(raw, BUFFER_BYTES) : raw;
    }

    /** Returns the exception for a file that the system, or its compression, does not let us read. */
    public static TraceException unreadable(String file, IOException cause) {
        String why = cause instanceof EOFException ? "it ends in the middle" : cause.getMessage();
        return new TraceException(file, "cannot be read: " + why);
    }

    private static boolean isGzip(BufferedInputStream in) throws IOException {
        in.mark(2);
        int magic = in.read() << 8 | in.read();
        in.reset();
        return magic == GZIP_MAGIC;
    }
}

package understudy.workload.files;

import java.io.IOException;
import java.io.InputStream;

/**
 * File of a folder or archive.
 *
 * @param source the folder or archive, for messages
 * @param name the path below the folder or in the archive, with slashes
 * @param numBytes the size that the folder or archive states
 * @param in the content, which the next file closes
 */
public record NamedFile(String source, String name, long numBytes, InputStream in) {
    private static final int MAX_BYTES = 1 << 28;

    /** Returns the path with that of the folder or archive, for messages. */
    public String path() {
        return path(source, name);
    }

    /** Returns the path of a file; one by itself has no name. */
    static String path(String source, String name) {
        return name.isEmpty() ? source : source + "/" + name;
    }

    /**
     * Reads the whole content.
     *
     * @throws TraceException if it cannot be read, or is longer than 256 MiB
     */
    public byte[] readAll() {
        if (numBytes > MAX_BYTES) {
            throw new TraceException(path(), "has " + numBytes + " bytes, more than " + MAX_BYTES);
        }
        try {
            byte[] content = in.readNBytes(MAX_BYTES + 1);
            if (content.length > MAX_BYTES) {
                throw new TraceException(path(), "has more than " + MAX_BYTES + " bytes");
            }
            return content;
        } catch (IOException e) {
            throw TraceFile.unreadable(path(), e);
        }
    }
}

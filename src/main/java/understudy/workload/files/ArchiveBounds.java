package understudy.workload.files;

import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;

/** Bounds of an archive, so that a small one made to do harm cannot keep a reader busy for hours. */
final class ArchiveBounds {
    /** Text of numbers shrinks to a tenth; zeros alone to a thousandth. */
    private static final int MAX_RATIO = 200;

    private static final long ALWAYS_ALLOWED_BYTES = 1 << 26;

    private final Path archive;
    private final LongSupplier packedBytes;

    /**
     * Bounds the bytes that an archive unpacks to.
     *
     * @param packedBytes how much of the archive has been read, or all of it
     */
    ArchiveBounds(Path archive, LongSupplier packedBytes) {
        this.archive = archive;
        this.packedBytes = packedBytes;
    }

    /** Refuses more bytes than any trace unpacks to. */
    void check(long unpackedBytes) {
        if (unpackedBytes > ALWAYS_ALLOWED_BYTES && unpackedBytes > MAX_RATIO * packedBytes.getAsLong()) {
            throw new TraceException(
                    archive.toString(), "expands to more than " + MAX_RATIO + " times its size, which no trace does");
        }
    }

    /** Refuses a name that leads out of the archive: a sign of harm, though nothing is unpacked here. */
    void checkName(String name) {
        var parts = List.of(name.split("[/\\\\]", -1));
        if (parts.contains("..") || parts.get(0).isEmpty() || parts.get(0).endsWith(":")) {
            throw new TraceException(archive.toString(), "the entry " + name + " lies outside of the archive");
        }
    }
}

package understudy.workload.files;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.zip.ZipException;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.jspecify.annotations.Nullable;

/** Files of a tar archive, gzip'd or not, in its order; links and devices are passed over. */
final class TarFiles implements NamedFiles {
    /** Names of 64 KiB, and the other headers in front of a file. */
    private static final int MAX_HEADER_BYTES = 1 << 17;

    private final Path archive;
    private final Predicate<String> isWanted;
    private final ArchiveBounds bounds;
    private final CountedInput unpacked;
    private final TarArchiveInputStream tar;
    private long maxBytes = Long.MAX_VALUE;

    TarFiles(Path archive, Predicate<String> isWanted) throws IOException {
        this.archive = archive;
        this.isWanted = isWanted;
        var packed = new CountedInput(Files.newInputStream(archive));
        bounds = new ArchiveBounds(archive, packed::numBytes);
        unpacked = new CountedInput(TraceFile.decompressed(packed), this::check);
        tar = new TarArchiveInputStream(unpacked, StandardCharsets.UTF_8.name());
    }

    @Override
    public @Nullable NamedFile next() {
        finishEntry();
        for (var entry = nextEntry(); entry != null; entry = nextEntry()) {
            bounds.checkName(entry.getName());
            if (isFile(entry) && isWanted.test(entry.getName())) {
                return new NamedFile(archive.toString(), entry.getName(), entry.getSize(), content());
            }
            finishEntry();
        }
        return null;
    }

    /** The library believes that all but folders are files. */
    private static boolean isFile(TarArchiveEntry entry) {
        return entry.getLinkFlag() == TarConstants.LF_NORMAL || entry.getLinkFlag() == TarConstants.LF_OLDNORM;
    }

    /** Returns the content of the current entry; closing it leaves the archive open. */
    private InputStream content() {
        return new FilterInputStream(tar) {
            @Override
            public void close() {}
        };
    }

    /** Reads the rest of the current entry; the library would skip it, and not see that it is not all there. */
    private void finishEntry() {
        var entry = tar.getCurrentEntry();
        if (entry != null) {
            try {
                tar.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                throw TraceFile.unreadable(archive + "/" + entry.getName(), e);
            }
        }
    }

    private @Nullable TarArchiveEntry nextEntry() {
        try {
            maxBytes = unpacked.numBytes() + MAX_HEADER_BYTES;
            var entry = tar.getNextEntry();
            maxBytes = Long.MAX_VALUE;
            boolean isWhole = entry == null ? tar.getBytesRead() % tar.getRecordSize() == 0 : entry.isCheckSumOK();
            if (!isWhole) {
                throw damaged();
            }
            return entry;
        } catch (EOFException | ZipException e) {
            throw TraceFile.unreadable(archive.toString(), e);
        } catch (IOException e) {
            throw damaged();
        }
    }

    private void check(long unpackedBytes) {
        bounds.check(unpackedBytes);
        if (unpackedBytes > maxBytes) {
            throw new TraceException(
                    archive.toString(), "has an entry with a header of more than " + MAX_HEADER_BYTES + " bytes");
        }
    }

    private TraceException damaged() {
        return new TraceException(archive.toString(), "is no tar archive, or damaged");
    }

    @Override
    public void close() {
        try {
            tar.close();
        } catch (IOException e) {
            throw TraceFile.unreadable(archive.toString(), e);
        }
    }
}

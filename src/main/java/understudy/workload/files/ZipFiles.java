package understudy.workload.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.commons.compress.archivers.zip.ZipFile;

/** Files of a zip archive. */
final class ZipFiles extends ListedFiles {
    private final ZipFile zip;
    private final ArchiveBounds bounds;
    private final Path archive;
    private long unpackedBytes;

    private ZipFiles(Path archive, ZipFile zip, ArchiveBounds bounds, List<String> names) {
        super(archive, names);
        this.archive = archive;
        this.zip = zip;
        this.bounds = bounds;
    }

    static ZipFiles open(Path archive, Predicate<String> isWanted, Consumer<List<String>> order) throws IOException {
        long packedBytes = Files.size(archive);
        var bounds = new ArchiveBounds(archive, () -> packedBytes);
        var zip = ZipFile.builder().setPath(archive).get();
        try {
            var names = new ArrayList<String>();
            for (var entry : Collections.list(zip.getEntries())) {
                bounds.checkName(entry.getName());
                if (isWanted.test(entry.getName())) {
                    names.add(entry.getName());
                }
            }
            names.sort(null);
            order.accept(names);
            return new ZipFiles(archive, zip, bounds, names);
        } catch (RuntimeException e) {
            zip.close();
            throw e;
        }
    }

    @Override
    NamedFile open(String name) throws IOException {
        var entry = zip.getEntry(name);
        long earlierBytes = unpackedBytes;
        var in = new CountedInput(zip.getInputStream(entry), numBytes -> {
            unpackedBytes = earlierBytes + numBytes;
            bounds.check(unpackedBytes);
        });
        return new NamedFile(archive.toString(), name, entry.getSize(), in);
    }

    @Override
    public void close() {
        super.close();
        try {
            zip.close();
        } catch (IOException e) {
            throw TraceFile.unreadable(archive.toString(), e);
        }
    }
}

package understudy.workload.trace;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.Predicate;

/** Files of a trace that is a directory, or a tar archive, gzip'd or not; what is in it is looked at as it comes. */
public final class FilesOfTrace {
    private static final int MAX_FILE_BYTES = 1 << 28;

    private FilesOfTrace() {}

    /** Visitor of files. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * Takes a file.
         *
         * @param name the path below the directory or in the archive, with slashes
         * @param content all of it
         */
        void on(String name, byte[] content);
    }

    /**
     * Visits all files with certain names, those of an archive in its order.
     *
     * @param isWanted takes the path below the directory or in the archive
     * @throws TraceException if there is no such path, it cannot be read, an entry points out of the archive, or
     *     expands beyond all measure
     */
    public static void visit(Path path, Predicate<String> isWanted, Visitor visitor) {
        try {
            if (Files.isDirectory(path)) {
                visitDirectory(path, isWanted, visitor);
            } else {
                visitArchive(path, isWanted, visitor);
            }
        } catch (NoSuchFileException e) {
            throw new TraceException(path.toString(), "no such file");
        } catch (IOException e) {
            throw TraceFile.unreadable(path.toString(), e);
        }
    }

    private static void visitDirectory(Path directory, Predicate<String> isWanted, Visitor visitor) throws IOException {
        try (var found = Files.walk(directory)) {
            for (var file : found.filter(Files::isRegularFile).sorted().toList()) {
                String name = directory.relativize(file).toString().replace('\\', '/');
                if (isWanted.test(name)) {
                    visitor.on(name, Files.readAllBytes(file));
                }
            }
        }
    }

    private static void visitArchive(Path archive, Predicate<String> isWanted, Visitor visitor) throws IOException {
        var file = new CountedInput(Files.newInputStream(archive));
        try (InputStream in = TraceFile.decompressed(file)) {
            var tar = new TarInput(new ExpansionLimit(in, file, archive.toString()), archive.toString());
            while (tar.next()) {
                if (isWanted.test(tar.name())) {
                    visitor.on(tar.name(), tar.content(MAX_FILE_BYTES));
                }
            }
        }
    }
}

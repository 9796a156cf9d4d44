package understudy.workload.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
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
        try (var tar = new TarInput(archive)) {
            while (tar.next()) {
                if (isWanted.test(tar.name())) {
                    visitor.on(tar.name(), contentOf(tar, archive));
                }
            }
        }
    }

    private static byte[] contentOf(TarInput tar, Path archive) throws IOException {
        if (tar.numLeft() > MAX_FILE_BYTES) {
            String tooLarge = tar.name() + " has " + tar.numLeft() + " bytes, more than " + MAX_FILE_BYTES;
            throw new TraceException(archive.toString(), tooLarge);
        }
        return tar.content().readAllBytes();
    }

    /**
     * Refuses an archive with a name that leads out of it: a sign of one that was made to do harm, though nothing is
     * unpacked here.
     *
     * @throws TraceException if this is one
     */
    public static void requireInside(Path archive, String name) {
        var parts = List.of(name.split("[/\\\\]", -1));
        if (parts.contains("..") || parts.get(0).isEmpty() || parts.get(0).endsWith(":")) {
            throw new TraceException(archive.toString(), "the entry " + name + " lies outside of the archive");
        }
    }
}

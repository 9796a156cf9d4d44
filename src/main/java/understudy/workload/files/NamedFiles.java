package understudy.workload.files;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Files of a folder, of a zip archive, or of a tar archive, gzip'd or not, one after the other. Nothing is ever written to
 * disk.
 *
 * <p>Methods throw a {@link TraceException} with the archive, and the entry if it is about one, if there is no such file,
 * it cannot be read, is no archive, names a file outside of it, or expands beyond all measure.
 */
public interface NamedFiles extends Closeable {

    /**
     * Opens the wanted files of a folder or archive: those of a tar archive as they stand there, others in the order of
     * their names.
     *
     * @param isWanted takes the path below the folder or in the archive, with slashes
     */
    static NamedFiles open(Path path, Predicate<String> isWanted) {
        return open(path, isWanted, names -> {});
    }

    /**
     * Opens the wanted files of a folder or archive likewise.
     *
     * @param order changes the order of files, except for a tar archive, whose names are not known beforehand
     */
    static NamedFiles open(Path path, Predicate<String> isWanted, Consumer<List<String>> order) {
        try {
            if (Files.isDirectory(path)) {
                return FolderFiles.ofFolder(path, isWanted, order);
            }
            return isZip(path) ? ZipFiles.open(path, isWanted, order) : new TarFiles(path, isWanted);
        } catch (IOException e) {
            throw TraceFile.unreadable(path.toString(), e);
        }
    }

    /** Opens a file by itself. */
    static NamedFiles ofFile(Path file) {
        return FolderFiles.ofFile(file);
    }

    /** Returns whether a path has the name of a zip archive. */
    static boolean isZip(Path path) {
        return path.toString().toLowerCase(Locale.ROOT).endsWith(".zip");
    }

    /** Returns the next file, or null at the end. */
    @Nullable NamedFile next();

    @Override
    void close();
}

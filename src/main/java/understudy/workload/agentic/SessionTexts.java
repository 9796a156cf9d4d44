package understudy.workload.agentic;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;
import understudy.workload.trace.TraceException;
import understudy.workload.trace.TraceFile;

/**
 * Texts of sessions in a folder, an archive (.zip, .tar, .tar.gz, .tgz) or a file, each of them gzip'd or not: of a folder
 * or zip in the order of their names or shuffled, of all else as they stand there. A file of JSON lines has a session on
 * each line.
 */
final class SessionTexts implements Closeable {
    private static final long MAX_SESSION_BYTES = 1L << 28;

    private final Path path;
    private final SessionFiles files;
    private @Nullable TextLines lines;
    private String fileOfLines = "";

    /**
     * Opens the sessions of a path.
     *
     * @param shuffler gives a folder or zip another order, or null for that of the names
     * @throws TraceException if it cannot be read
     */
    SessionTexts(Path path, @Nullable UniformRandomProvider shuffler) {
        this.path = path;
        try {
            files = open(path, shuffler);
        } catch (IOException e) {
            throw TraceFile.unreadable(path.toString(), e);
        }
    }

    private static SessionFiles open(Path path, @Nullable UniformRandomProvider shuffler) throws IOException {
        String name = path.toString();
        if (Files.isDirectory(path)) {
            return ListedFiles.ofFolder(path, shuffler);
        }
        if (SessionNames.isZip(name)) {
            return ListedFiles.ofZip(path, shuffler);
        }
        if (shuffler != null) {
            throw new TraceException(name, "only the sessions of a folder or of a .zip can be shuffled");
        }
        return SessionNames.isTar(name) ? new TarFiles(path) : ListedFiles.ofFile(path);
    }

    /**
     * Returns the next text, or null at the end.
     *
     * @throws TraceException if a file cannot be read
     */
    @Nullable SessionText next() {
        try {
            var text = nextLine();
            while (text == null) {
                var file = files.next();
                if (file == null) {
                    return null;
                }
                text = firstOf(file);
            }
            return text;
        } catch (IOException e) {
            throw TraceFile.unreadable(path.toString(), e);
        }
    }

    private @Nullable SessionText firstOf(SessionFiles.NamedInput file) throws IOException {
        var content = TraceFile.decompressed(file.in());
        if (!SessionNames.isLines(file.name())) {
            return new SessionText(file.name(), 1, bounded(file.name(), 1, content));
        }
        fileOfLines = file.name();
        lines = new TextLines(content);
        return nextLine();
    }

    private @Nullable SessionText nextLine() throws IOException {
        var line = lines == null ? null : lines.next();
        if (lines == null || line == null) {
            lines = null;
            return null;
        }
        return new SessionText(fileOfLines, lines.line(), bounded(fileOfLines, lines.line(), line));
    }

    private static InputStream bounded(String file, long line, InputStream in) {
        return new BoundedInput(in, MAX_SESSION_BYTES, file, line);
    }

    @Override
    public void close() {
        try {
            files.close();
        } catch (IOException e) {
            throw TraceFile.unreadable(path.toString(), e);
        }
    }
}

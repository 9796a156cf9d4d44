package understudy.workload.agentic;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.ListSampler;
import org.jspecify.annotations.Nullable;
import understudy.workload.files.CountedInput;
import understudy.workload.files.NamedFile;
import understudy.workload.files.NamedFiles;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/**
 * Texts of sessions in a folder, an archive (.zip, .tar, .tar.gz, .tgz) or a file, each of them gzip'd or not: of a folder
 * or zip in the order of their names or shuffled, of all else as they stand there. A file of JSON lines has a session on
 * each line.
 */
final class SessionTexts implements Closeable {
    private static final long MAX_SESSION_BYTES = 1L << 28;

    private final NamedFiles files;
    private @Nullable TextLines lines;
    private String fileOfLines = "";

    /**
     * Opens the sessions of a path.
     *
     * @param shuffler gives a folder or zip another order, or null for that of the names
     * @throws TraceException if it cannot be read
     */
    SessionTexts(Path path, @Nullable UniformRandomProvider shuffler) {
        String name = path.toString();
        boolean isListed = Files.isDirectory(path) || NamedFiles.isZip(path);
        if (shuffler != null && !isListed) {
            throw new TraceException(name, "only the sessions of a folder or of a .zip can be shuffled");
        }
        files = isListed || SessionNames.isTar(name)
                ? NamedFiles.open(path, SessionNames::isSession, names -> shuffle(names, shuffler))
                : NamedFiles.ofFile(path);
    }

    private static void shuffle(List<String> names, @Nullable UniformRandomProvider shuffler) {
        if (shuffler != null) {
            ListSampler.shuffle(shuffler, names);
        }
    }

    /**
     * Returns the next text, or null at the end.
     *
     * @throws TraceException if a file cannot be read
     */
    @Nullable SessionText next() {
        var text = nextLine();
        while (text == null) {
            var file = files.next();
            if (file == null) {
                return null;
            }
            text = firstOf(file);
        }
        return text;
    }

    private @Nullable SessionText firstOf(NamedFile file) {
        InputStream content;
        try {
            content = TraceFile.decompressed(file.in());
        } catch (IOException e) {
            throw TraceFile.unreadable(file.path(), e);
        }
        if (!SessionNames.isLines(file.path())) {
            return bounded(file.path(), 1, content);
        }
        fileOfLines = file.path();
        lines = new TextLines(content);
        return nextLine();
    }

    private @Nullable SessionText nextLine() {
        if (lines == null) {
            return null;
        }
        try {
            var line = lines.next();
            if (line != null) {
                return bounded(fileOfLines, lines.line(), line);
            }
        } catch (IOException e) {
            throw TraceFile.unreadable(fileOfLines, e);
        }
        lines = null;
        return null;
    }

    /** A small archive may unpack to a text of any length. */
    private static SessionText bounded(String file, long line, InputStream in) {
        return new SessionText(file, line, new CountedInput(in, numBytes -> {
            if (numBytes > MAX_SESSION_BYTES) {
                throw new TraceException(file, line, "the session is longer than " + MAX_SESSION_BYTES + " bytes");
            }
        }));
    }

    @Override
    public void close() {
        files.close();
    }
}

package understudy.workload.agentic;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.ListSampler;
import org.jspecify.annotations.Nullable;
import understudy.workload.trace.FilesOfTrace;

/** Files whose names are known beforehand, in the order of their names or shuffled. */
final class ListedFiles implements SessionFiles {

    /** Opens a file by its name. */
    @FunctionalInterface
    private interface Opener {
        InputStream open(String name) throws IOException;
    }

    private final List<String> names;
    private final Opener opener;
    private final Closeable whole;
    private int numGiven;
    private InputStream current = InputStream.nullInputStream();

    private ListedFiles(List<String> names, Opener opener, Closeable whole) {
        this.names = names;
        this.opener = opener;
        this.whole = whole;
    }

    /** Returns the sessions in a folder and in those below it. */
    static ListedFiles ofFolder(Path folder, @Nullable UniformRandomProvider shuffler) throws IOException {
        try (var files = Files.walk(folder)) {
            var names = files.filter(Files::isRegularFile).map(Path::toString).filter(SessionNames::isSession);
            return new ListedFiles(
                    inOrder(names.toList(), shuffler), name -> Files.newInputStream(Path.of(name)), () -> {});
        }
    }

    /** Returns a file by itself. */
    static ListedFiles ofFile(Path file) {
        return new ListedFiles(List.of(file.toString()), name -> Files.newInputStream(file), () -> {});
    }

    /** Returns the sessions in a zip archive. */
    static ListedFiles ofZip(Path file, @Nullable UniformRandomProvider shuffler) throws IOException {
        var zip = new ZipFile(file.toFile());
        try {
            var names = zip.stream().map(ZipEntry::getName).toList();
            for (var name : names) {
                FilesOfTrace.requireInside(file, name);
            }
            var sessions = names.stream().filter(SessionNames::isSession).toList();
            return new ListedFiles(inOrder(sessions, shuffler), name -> zip.getInputStream(zip.getEntry(name)), zip);
        } catch (RuntimeException e) {
            zip.close();
            throw e;
        }
    }

    private static List<String> inOrder(List<String> names, @Nullable UniformRandomProvider shuffler) {
        var ordered = new ArrayList<>(names);
        ordered.sort(null);
        if (shuffler != null) {
            ListSampler.shuffle(shuffler, ordered);
        }
        return ordered;
    }

    @Override
    public @Nullable NamedInput next() throws IOException {
        current.close();
        if (numGiven == names.size()) {
            return null;
        }
        var name = names.get(numGiven++);
        current = opener.open(name);
        return new NamedInput(name, current);
    }

    @Override
    public void close() throws IOException {
        current.close();
        whole.close();
    }
}

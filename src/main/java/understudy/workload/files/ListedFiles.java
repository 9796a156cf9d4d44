package understudy.workload.files;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Files whose names are known beforehand. */
abstract class ListedFiles implements NamedFiles {
    private final Path source;
    private final Iterator<String> names;
    private InputStream current = InputStream.nullInputStream();

    ListedFiles(Path source, List<String> names) {
        this.source = source;
        this.names = names.iterator();
    }

    /** Opens a file by its name. */
    abstract NamedFile open(String name) throws IOException;

    @Override
    public final @Nullable NamedFile next() {
        closeCurrent();
        if (!names.hasNext()) {
            return null;
        }
        String name = names.next();
        try {
            var file = open(name);
            current = file.in();
            return file;
        } catch (IOException e) {
            throw TraceFile.unreadable(NamedFile.path(source.toString(), name), e);
        }
    }

    @Override
    public void close() {
        closeCurrent();
    }

    private void closeCurrent() {
        try {
            current.close();
        } catch (IOException e) {
            throw TraceFile.unreadable(source.toString(), e);
        }
    }
}

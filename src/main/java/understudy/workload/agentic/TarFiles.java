package understudy.workload.agentic;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.workload.trace.TarInput;

/** Sessions in a tar archive, gzip'd or not, in the order of the archive. */
final class TarFiles implements SessionFiles {
    private final Path archive;
    private final TarInput tar;

    TarFiles(Path archive) {
        this.archive = archive;
        tar = new TarInput(archive);
    }

    @Override
    public @Nullable NamedInput next() throws IOException {
        while (tar.next()) {
            if (SessionNames.isSession(tar.name())) {
                return new NamedInput(archive + "/" + tar.name(), tar.content());
            }
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        tar.close();
    }
}

package understudy.workload.agentic;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Files of a folder or archive that may hold sessions, one after the other. */
interface SessionFiles extends Closeable {

    /**
     * File that may hold sessions.
     *
     * @param name as it stands in the folder or archive, for messages
     * @param in its content, which the next file closes
     */
    record NamedInput(String name, InputStream in) {}

    /** Returns the next file, or null at the end. */
    @Nullable NamedInput next() throws IOException;
}

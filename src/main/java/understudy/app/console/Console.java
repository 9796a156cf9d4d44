package understudy.app.console;

import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine;

/** A command's two outputs: results go to one, warnings to the other. */
public record Console(CommandLine commandLine) {
    private static final int NOT_WRITTEN = 2;

    /** Writes something that may fail. */
    public interface Writing {
        void write() throws IOException;
    }

    public PrintWriter out() {
        return commandLine.getOut();
    }

    public PrintWriter err() {
        return commandLine.getErr();
    }

    public void warn(String line) {
        err().println(line);
        err().flush();
    }

    /**
     * Finds out whether what was printed has arrived: a disk may be full, and the program behind a pipe may have ended.
     * System.out keeps its errors to itself, so the writer on top of it does not report them.
     *
     * @return the exit code
     */
    public int flush() {
        boolean hasWriterFailed = out().checkError();
        if (System.out.checkError() || hasWriterFailed) {
            warn("stdout cannot be written");
            return NOT_WRITTEN;
        }
        return 0;
    }

    /**
     * Writes a file; one that can no longer be written, though it could before a long run, does not cost the rest.
     *
     * @return the exit code
     */
    public int write(Writing writing) {
        try {
            writing.write();
            return 0;
        } catch (IOException e) {
            warn("the report cannot be written: " + e);
            return NOT_WRITTEN;
        }
    }
}

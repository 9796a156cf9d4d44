package understudy.app.console;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Help;

/** One line on stderr that is drawn over and over; silent unless stderr is a terminal. */
public record StatusLine(PrintStream out, boolean isVisible) {
    private static final Path STDERR = Path.of("/proc/self/fd/2");
    private static final int WIDTH = 30;
    private static final String CLEAR_LINE = "\r\u001b[K";

    public static StatusLine onStderr() {
        return new StatusLine(System.err, isStderrTerminal());
    }

    /** Returns whether stderr goes to a terminal, and not to a file or another program. */
    private static boolean isStderrTerminal() {
        if (!Files.exists(STDERR)) {
            return Help.Ansi.AUTO.enabled(); // the guess of a library, for systems without /proc
        }
        try {
            return STDERR.toRealPath().startsWith("/dev");
        } catch (IOException e) {
            return false;
        }
    }

    public void draw(String line) {
        if (isVisible) {
            out.print(CLEAR_LINE + line);
            out.flush();
        }
    }

    public void clear() {
        draw("");
    }

    /** Returns a bar that is filled to a share from 0 to 1. */
    public static String bar(double share) {
        int filled = (int) (Math.min(1, share) * WIDTH);
        return "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] ";
    }
}

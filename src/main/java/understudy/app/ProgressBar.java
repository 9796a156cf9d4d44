package understudy.app;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalLong;
import picocli.CommandLine.Help;

/** One line on stderr that says how far a run has come; silent unless stderr is a terminal. */
final class ProgressBar {
    private static final Path STDERR = Path.of("/proc/self/fd/2");
    private static final int WIDTH = 30;
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintStream out;
    private final boolean isVisible;
    private final OptionalLong total;

    /** Creates a bar for {@code total} requests, if that is known. */
    ProgressBar(PrintStream out, boolean isVisible, OptionalLong total) {
        this.out = out;
        this.isVisible = isVisible;
        this.total = total;
    }

    /** Returns whether stderr goes to a terminal, and not to a file or another program. */
    static boolean isStderrTerminal() {
        if (!Files.exists(STDERR)) {
            return Help.Ansi.AUTO.enabled(); // the guess of a library, for systems without /proc
        }
        try {
            return STDERR.toRealPath().startsWith("/dev");
        } catch (IOException e) {
            return false;
        }
    }

    void draw(long numEnded, double virtualSeconds, double wallSeconds) {
        if (isVisible) {
            out.print(CLEAR_LINE + line(numEnded, virtualSeconds, wallSeconds));
            out.flush();
        }
    }

    void clear() {
        if (isVisible) {
            out.print(CLEAR_LINE);
            out.flush();
        }
    }

    /** Returns the line: bar and share if the total is known, requests, virtual time, and how much faster than life it is. */
    String line(long numEnded, double virtualSeconds, double wallSeconds) {
        long seconds = (long) virtualSeconds;
        double speedUp = wallSeconds > 0 ? virtualSeconds / wallSeconds : 0;
        String requests = total.isPresent()
                ? bar((double) numEnded / Math.max(1, total.getAsLong())) + numEnded + "/" + total.getAsLong()
                : String.valueOf(numEnded);
        return String.format(
                Locale.ROOT,
                "%s requests, %d:%02d:%02d of virtual time, %.0f x real time",
                requests,
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60,
                speedUp);
    }

    private static String bar(double share) {
        int filled = (int) (Math.min(1, share) * WIDTH);
        return "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] ";
    }
}

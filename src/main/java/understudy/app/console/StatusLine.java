package understudy.app.console;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import picocli.CommandLine.Help;

/** One line on stderr that is drawn over and over; silent unless stderr is a terminal. */
public record StatusLine(PrintStream out, boolean isVisible) {
    private static final Path STDERR = Path.of("/proc/self/fd/2");
    private static final Path NOWHERE = Path.of("/dev/null");
    private static final int WIDTH = 30;
    private static final long INTERVAL_MILLIS = 200;
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
            var file = STDERR.toRealPath();
            return file.startsWith("/dev") && !file.equals(NOWHERE);
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

    /** Returns how many runs are done, and how long the others will take at most. */
    public static String runs(int numDone, long numToDo, double seconds) {
        double perSecond = numDone / Math.max(seconds, 1e-3);
        String left = numDone == 0
                ? ""
                : String.format(Locale.ROOT, ", at most %.0f s left", (numToDo - numDone) / perSecond);
        return bar(numDone / (double) Math.max(1, numToDo))
                + String.format(Locale.ROOT, "%d/%d runs, %.1f per second", numDone, numToDo, perSecond)
                + left;
    }

    /** Draws the line until all of something is done, whether or not it has come to a good end. */
    public void drawUntilDone(List<? extends CompletableFuture<?>> all, Supplier<String> line)
            throws InterruptedException {
        var done = CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
        try {
            while (!isDone(done)) {
                draw(line.get());
            }
        } finally {
            clear();
        }
    }

    private static boolean isDone(CompletableFuture<Void> all) throws InterruptedException {
        try {
            all.get(INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException | CancellationException e) {
            return true; // seen again at each of them
        }
    }

    /** Returns a bar that is filled to a share from 0 to 1. */
    public static String bar(double share) {
        int filled = (int) (Math.min(1, share) * WIDTH);
        return "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] ";
    }
}

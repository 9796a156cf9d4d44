package understudy.chaos.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import understudy.runtime.Stopwatch;

/** A command of the shell that runs. */
public final class ShellProcess implements AutoCloseable {
    private static final long END_SECONDS = 3;
    private static final long POLL_MILLIS = 20;
    private static final long LAST_OUTPUT_MILLIS = 1_000;

    private final Process process;
    private final OutputLog log;

    private ShellProcess(Process process, OutputLog log) {
        this.process = process;
        this.log = log;
    }

    /**
     * Starts a command.
     *
     * @param directory where it runs
     * @param log file that its output is appended to, of which the newest part is kept
     */
    public static ShellProcess start(String line, Path directory, Path log) throws IOException {
        var process = new ProcessBuilder("sh", "-c", line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        return new ShellProcess(process, OutputLog.start(process.getInputStream(), log));
    }

    /** Returns whether it still runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits a moment, and returns whether it has ended. */
    public boolean hasEnded() throws IOException {
        try {
            return process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while a process starts", e);
        }
    }

    /** Returns how it has ended, for an error message; it must have. */
    public String end() throws IOException {
        log.awaitEnd(LAST_OUTPUT_MILLIS);
        return "has ended with code " + process.exitValue() + lastLines();
    }

    /** Returns the end of the log, for an error message; nothing if it is empty. */
    public String lastLines() throws IOException {
        String last = log.lastLines();
        return last.isEmpty() ? "" : "; its log ends: " + last;
    }

    /** Ends the process and those that it has started, at first by asking. */
    @Override
    public void close() {
        var all = process.descendants().collect(Collectors.toList());
        all.add(process.toHandle());
        all.forEach(ProcessHandle::destroy);
        var waiting = Stopwatch.start();
        while (isAnyAlive(all) && waiting.seconds() < END_SECONDS) {
            pause();
        }
        all.forEach(ProcessHandle::destroyForcibly);
    }

    private static boolean isAnyAlive(List<ProcessHandle> processes) {
        return processes.stream().anyMatch(ProcessHandle::isAlive);
    }

    private static void pause() {
        new CompletableFuture<Void>()
                .completeOnTimeout(null, POLL_MILLIS, TimeUnit.MILLISECONDS)
                .join();
    }
}

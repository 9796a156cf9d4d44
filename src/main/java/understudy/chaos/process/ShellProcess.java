package understudy.chaos.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import understudy.runtime.Stopwatch;

/**
 * A command of the shell that runs.
 *
 * @param process the shell
 * @param log file that has all output
 */
public record ShellProcess(Process process, Path log) implements AutoCloseable {
    private static final long END_SECONDS = 3;
    private static final long POLL_MILLIS = 20;
    private static final int LAST_LINES = 5;
    private static final int MAX_TAIL_BYTES = 1 << 14;

    /**
     * Starts a command.
     *
     * @param directory where it runs
     * @param log file that its output is appended to
     */
    public static ShellProcess start(String line, Path directory, Path log) throws IOException {
        var process = new ProcessBuilder("sh", "-c", line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        return new ShellProcess(process, log);
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
        return "has ended with code " + process.exitValue() + lastLines();
    }

    /** Returns the end of the log, which may be of any length, and need not be text; nothing if it is empty. */
    public String lastLines() throws IOException {
        try (var file = new RandomAccessFile(log.toFile(), "r")) {
            long begin = Math.max(0, file.length() - MAX_TAIL_BYTES);
            var tail = new byte[(int) (file.length() - begin)];
            file.seek(begin);
            file.readFully(tail);
            var lines = new String(tail, StandardCharsets.UTF_8).lines().toList();
            var last = lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size());
            return last.isEmpty() ? "" : "; its log ends: " + String.join(" | ", last);
        }
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

package understudy.chaos.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** File with the newest output of a process. A thread of its own takes all output, so that the process never waits. */
final class OutputLog {
    private static final int MAX_BYTES = 1 << 26;
    private static final int BUFFER_BYTES = 1 << 13;
    private static final int LAST_LINES = 5;
    private static final int MAX_TAIL_BYTES = 1 << 14;

    private final Path file;
    private final int maxBytes;
    private final Thread thread;

    private OutputLog(InputStream output, Path file, int maxBytes) throws IOException {
        this.file = file;
        this.maxBytes = maxBytes;
        var log = new RandomAccessFile(file.toFile(), "rw");
        thread = new Thread(() -> copy(output, log), "chaos-output");
        thread.setDaemon(true);
    }

    /**
     * Begins to append output to a file of at most 64 MiB, whose older half goes when it is full.
     *
     * @throws IOException if the file cannot be written
     */
    static OutputLog start(InputStream output, Path file) throws IOException {
        return start(output, file, MAX_BYTES);
    }

    static OutputLog start(InputStream output, Path file, int maxBytes) throws IOException {
        var log = new OutputLog(output, file, maxBytes);
        log.thread.start();
        return log;
    }

    private void copy(InputStream output, RandomAccessFile log) {
        try (output;
                log) {
            try {
                append(output, log);
            } catch (IOException fullDisk) {
                // The process goes on without a log.
                output.transferTo(OutputStream.nullOutputStream());
            }
        } catch (IOException endOfProcess) {
            // There is no more output.
        }
    }

    private void append(InputStream output, RandomAccessFile log) throws IOException {
        var buffer = new byte[BUFFER_BYTES];
        log.seek(log.length());
        for (int count = output.read(buffer); count >= 0; count = output.read(buffer)) {
            log.write(buffer, 0, count);
            if (log.length() > maxBytes) {
                var newest = tail(log, maxBytes / 2);
                log.seek(0);
                log.write(newest);
                log.setLength(newest.length);
            }
        }
    }

    /** Waits so long for the end of the output, which children of the process may still hold open. */
    void awaitEnd(long millis) {
        try {
            thread.join(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the last lines of the file, which may be of any length, and need not be text. */
    String lastLines() throws IOException {
        try (var log = new RandomAccessFile(file.toFile(), "r")) {
            var lines = new String(tail(log, MAX_TAIL_BYTES), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return String.join(" | ", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
        }
    }

    private static byte[] tail(RandomAccessFile log, int maxBytes) throws IOException {
        long begin = Math.max(0, log.length() - maxBytes);
        var tail = new byte[(int) (log.length() - begin)];
        log.seek(begin);
        log.readFully(tail);
        return tail;
    }
}

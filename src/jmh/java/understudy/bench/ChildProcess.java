package understudy.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Use of a process that has ended, as Linux counts it.
 *
 * @param wallSeconds from its start to its end
 * @param cpuSeconds user and system time of it and the processes that it waited for
 * @param maxRssMegabytes most resident memory, up to some milliseconds before its end
 */
record ChildProcess(double wallSeconds, double cpuSeconds, double maxRssMegabytes) {
    private static final long POLL_MILLIS = 10;
    private static final double TICKS_PER_SECOND = 100;
    private static final double KIBIBYTES_PER_MEGABYTE = 1e6 / 1024;

    /** Fields cutime and cstime of {@code /proc/PID/stat}, counted from 0 after the name. */
    private static final int CHILDREN_USER = 13;

    private static final int CHILDREN_SYSTEM = 14;

    /** Runs a process to its end, which must be a good one; its stdout goes to {@code out}. */
    static ChildProcess run(ProcessBuilder builder, Path out, Path err) throws IOException, InterruptedException {
        double cpuSeconds = childrenSeconds();
        long startNanos = System.nanoTime();
        var process =
                builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        double rss = 0;
        do {
            rss = Math.max(rss, rssMegabytes(process));
        } while (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS));
        double wallSeconds = (System.nanoTime() - startNanos) / 1e9;
        if (process.exitValue() != 0) {
            throw new IOException(String.join(" ", builder.command()) + ":\n" + Files.readString(err));
        }
        return new ChildProcess(wallSeconds, childrenSeconds() - cpuSeconds, rss);
    }

    private static double childrenSeconds() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[CHILDREN_USER]) + Long.parseLong(fields[CHILDREN_SYSTEM])) / TICKS_PER_SECOND;
    }

    private static double rssMegabytes(Process process) {
        try (var lines = Files.lines(Path.of("/proc/" + process.pid() + "/status"))) {
            return lines.filter(line -> line.startsWith("VmHWM:"))
                    .mapToDouble(line -> Double.parseDouble(line.replaceAll("[^0-9]", "")) / KIBIBYTES_PER_MEGABYTE)
                    .sum();
        } catch (IOException | UncheckedIOException e) {
            return 0;
        }
    }
}

package understudy.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Threads of a Linux machine that run or could run, by proc(5): those of {@code loadavg}, which has {@code 3/417} for 3 of
 * 417, for each processor of {@code stat}. One thread looks; any may ask. Elsewhere it sees none.
 */
final class ProcessorDemand {
    private static final long SPAN_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Pattern RUNNABLE = Pattern.compile(" (\\d+)/\\d+ ");

    private final Path directory;
    private int numProcessors;
    private long spanEndNanos = SPAN_NANOS;
    private long numThreads;
    private int numLooks;
    private volatile double most;

    /** @param directory has the files {@code loadavg} and {@code stat} */
    ProcessorDemand(Path directory) {
        this.directory = directory;
        try (var lines = Files.lines(directory.resolve("stat"))) {
            numProcessors = (int) lines.filter(line -> line.matches("cpu\\d.*")).count();
        } catch (IOException e) {
            // This is another system, of which nothing is known.
        }
    }

    static ProcessorDemand ofThisMachine() {
        return new ProcessorDemand(Path.of("/proc"));
    }

    /** Counts the threads now, without the one that looks. */
    void look(long nowNanos) {
        if (numProcessors == 0) {
            return;
        }
        if (nowNanos >= spanEndNanos) {
            endSpan(nowNanos);
        }
        try {
            var runnable = RUNNABLE.matcher(Files.readString(directory.resolve("loadavg")));
            if (runnable.find()) {
                numThreads += threads(runnable);
                numLooks++;
            }
        } catch (IOException e) {
            numProcessors = 0;
        }
    }

    private static int threads(Matcher runnable) {
        return Math.max(0, Integer.parseInt(runnable.group(1)) - 1);
    }

    private void endSpan(long nowNanos) {
        if (numLooks > 0) {
            most = Math.max(most, (double) numThreads / numLooks / numProcessors);
        }
        spanEndNanos = nowNanos + SPAN_NANOS;
        numThreads = 0;
        numLooks = 0;
    }

    /** Returns the mean of the second in which it was highest; a second that is not over does not count. */
    double mostThreadsPerProcessor() {
        return most;
    }
}

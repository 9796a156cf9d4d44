package understudy.app;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.app.console.Console;
import understudy.app.console.StatusLine;
import understudy.fuzz.Failure;
import understudy.fuzz.Finding;
import understudy.fuzz.Fuzzer;

/**
 * Output of a search: results on stdout and in a file. Methods return the exit code that follows.
 *
 * @param outFile for the smallest scenario
 * @param seed of the search
 */
record FuzzOutput(Console console, @Nullable Path outFile, long seed) {
    private static final int FOUND = 1;

    static String progress(Fuzzer fuzzer, double seconds, double share) {
        return String.format(
                Locale.ROOT,
                "%srun %d, %d refused, %d:%02d",
                StatusLine.bar(share),
                fuzzer.numRuns(),
                fuzzer.numRefused(),
                (long) seconds / 60,
                (long) seconds % 60);
    }

    /** Prints that a search has found nothing, even if it was broken off. */
    int nothing(Fuzzer fuzzer, double seconds) {
        return print(String.format(
                Locale.ROOT,
                "seed %d: %s%d runs in %.0f s, %d of them refused by the reader; nothing found%n",
                seed,
                fuzzer.isStopped() ? "broken off; " : "",
                fuzzer.numRuns(),
                seconds,
                fuzzer.numRefused()));
    }

    /** Prints the result of one run. */
    int run(long run, Optional<Finding> finding) {
        if (finding.isEmpty()) {
            return print("seed " + seed + ", run " + run + ": nothing found\n");
        }
        String text = finding.get().smallest().text();
        int printed = print("seed " + seed + ", run " + run + ": "
                + finding.get().failure().message() + "\n\nThe smallest scenario that fails like this, of "
                + finding.get().numTries() + " tried:\n\n" + text + "\n" + again(run));
        return Math.max(write(text), Math.max(printed, FOUND));
    }

    /** Prints the result of checking a scenario that the user has named. */
    int scenario(String file, Optional<Failure> failure) {
        int printed = print(file + ": " + failure.map(Failure::message).orElse("nothing found") + "\n");
        return failure.isPresent() ? Math.max(printed, FOUND) : printed;
    }

    private String again(long run) {
        String drawn = "Again: understudy fuzz --seed " + seed + " --run " + run + "\n";
        return outFile == null ? drawn : drawn + "Smallest: understudy fuzz " + outFile + "\n";
    }

    private int print(String text) {
        console.out().print(text);
        return console.flush();
    }

    private int write(String text) {
        return outFile == null ? 0 : console.write(() -> Files.writeString(outFile, text));
    }
}

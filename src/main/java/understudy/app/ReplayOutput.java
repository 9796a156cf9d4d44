package understudy.app;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.app.console.Console;
import understudy.app.replay.ReplayTables;
import understudy.replay.ReplayCsv;
import understudy.replay.ReplayJson;
import understudy.replay.ReplayPage;
import understudy.replay.ReplayReport;
import understudy.settings.ScenarioException;

/** Outputs of a replay: tables on stdout, unless one of the files is to go there, and files. */
final class ReplayOutput {
    private static final String STDOUT = "-";

    private final Console console;
    private final List<Path> traces;
    private final List<Target> targets = new ArrayList<>();

    /** Format and the file that it goes to; no file means stdout. */
    private record Target(Format format, @Nullable Path file) {}

    /** Writes a report in one format. */
    private interface Format {
        void write(ReplayReport report, double wallSeconds, Writer out) throws IOException;
    }

    /**
     * Checks that everything can be written; each name is that of a file, {@code -} for stdout, or null for not at all.
     *
     * @throws ScenarioException if something cannot, or two are to go to the same place, or one over a trace
     */
    ReplayOutput(
            Console console, List<Path> traces, @Nullable String json, @Nullable String csv, @Nullable String html) {
        this.console = console;
        this.traces = traces.stream().map(ReplayOutput::real).toList();
        add("--json", json, ReplayJson::write);
        add("--csv", csv, (report, wallSeconds, out) -> ReplayCsv.write(report, out));
        add("--html", html, (report, wallSeconds, out) -> ReplayPage.write(report, out));
        var places = new HashSet<String>();
        for (var target : targets) {
            if (!places.add(target.file == null ? STDOUT : real(target.file).toString())) {
                throw new ScenarioException("--json, --csv, --html: two of them are to go to "
                        + (target.file == null ? "stdout" : target.file));
            }
        }
    }

    private void add(String option, @Nullable String name, Format format) {
        var file = STDOUT.equals(name) ? null : ReportFiles.path(option, name);
        if (file != null) {
            ReportFiles.requireWritable(option + " " + name, file);
            if (traces.contains(real(file))) {
                throw new ScenarioException(option + " " + name + ": is the trace itself");
            }
        }
        if (name != null) {
            targets.add(new Target(format, file));
        }
    }

    /**
     * Returns the one name of a file that may go by many, by way of links, or as yet by that of its directory alone.
     */
    private static Path real(Path file) {
        var absolute = file.toAbsolutePath();
        try {
            if (Files.exists(absolute)) {
                return absolute.toRealPath();
            }
            var directory = absolute.getParent();
            return directory == null ? absolute : directory.toRealPath().resolve(absolute.getFileName());
        } catch (IOException e) {
            return absolute.normalize(); // reading or writing it will say what is wrong
        }
    }

    /** Writes everything, and returns the exit code that follows. */
    int write(ReplayReport report, double wallSeconds) {
        int exitCode = 0;
        Target onStdout = null;
        for (var target : targets) {
            if (target.file == null) {
                onStdout = target;
            } else {
                exitCode = Math.max(exitCode, writeFile(target, target.file, report, wallSeconds));
            }
        }
        return Math.max(exitCode, print(onStdout, report, wallSeconds));
    }

    private int writeFile(Target target, Path file, ReplayReport report, double wallSeconds) {
        return console.write(() -> ReportFiles.write(file, out -> target.format.write(report, wallSeconds, out)));
    }

    private int print(@Nullable Target target, ReplayReport report, double wallSeconds) {
        var out = console.out();
        try {
            if (target == null) {
                out.print(ReplayTables.text(report));
                out.print(ReplayTables.speed(report, wallSeconds));
            } else {
                target.format.write(report, wallSeconds, out);
            }
        } catch (IOException e) {
            throw new IllegalStateException("a PrintWriter keeps its errors to itself", e);
        }
        return console.flush();
    }
}

package understudy.app;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.app.console.Console;
import understudy.app.console.StatusLine;
import understudy.sweep.Sweep;

/** Outputs of a sweep: those of a run, with a table of all runs instead of the report. */
record SweepOutput(RunOutput output) {

    /** Checks that everything can be written. */
    static SweepOutput checked(
            Console console, @Nullable String json, @Nullable String directory, @Nullable String html) {
        return new SweepOutput(RunOutput.checked(console, json, directory, html, null));
    }

    /** Returns a file of the directory; null if there is none. */
    @Nullable Path file(String name) {
        var directory = output.files().directory();
        return directory == null ? null : directory.resolve(name);
    }

    /** Prints the table or the JSON, writes the files, and returns the exit code. */
    int write(String json, String fileName, String table, ReportFiles.Content page) {
        int printed = output.print(output.isJsonOnStdout() ? json : table);
        int inFiles = output.console().write(() -> writeFiles(json, fileName));
        return Math.max(Math.max(printed, inFiles), output.writePage(page));
    }

    private void writeFiles(String json, String fileName) throws IOException {
        output.files().writeJson(json);
        var file = file(fileName);
        if (file != null) {
            ReportFiles.writeText(file, json);
        }
    }

    /** Returns the line that is shown while runs are under way. */
    static String progress(Sweep sweep, long maxRuns, double seconds) {
        int numDone = sweep.numDone();
        long numToDo = Math.max(numDone, maxRuns - sweep.numKnown());
        String known = sweep.numKnown() == 0 ? "" : ", " + sweep.numKnown() + " known from before";
        return StatusLine.runs(numDone, numToDo, seconds) + known + sweep.status();
    }
}

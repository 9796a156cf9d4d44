package understudy.app;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.app.console.Console;
import understudy.app.console.StatusLine;
import understudy.sweep.Sweep;

/**
 * Outputs of a sweep.
 *
 * @param isJsonOnStdout whether the rows go to stdout as JSON, and nothing else does
 */
record SweepOutput(Console console, boolean isJsonOnStdout, ReportFiles files) {

    /** Checks that everything can be written. */
    static SweepOutput checked(
            Console console, @Nullable String json, @Nullable String directory, @Nullable String html) {
        var output = RunOutput.checked(console, json, directory, html, null);
        return new SweepOutput(console, output.isJsonOnStdout(), output.files());
    }

    /** Returns a file of the directory; null if there is none. */
    @Nullable Path file(String name) {
        var directory = files.directory();
        return directory == null ? null : directory.resolve(name);
    }

    /** Prints the table or the JSON, writes the files, and returns the exit code. */
    int write(String json, String fileName, String table) {
        console.out().print(isJsonOnStdout ? json : table);
        int printed = console.flush();
        try {
            files.writeJson(json);
            var file = file(fileName);
            if (file != null) {
                ReportFiles.writeText(file, json);
            }
            return printed;
        } catch (IOException e) {
            return console.notWritten(e);
        }
    }

    /** Writes the page, if it was asked for, and returns the exit code. */
    int writePage(ReportFiles.Content page) {
        try {
            files.writeHtml(page);
            return 0;
        } catch (IOException e) {
            return console.notWritten(e);
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

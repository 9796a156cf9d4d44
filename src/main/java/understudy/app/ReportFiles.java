package understudy.app;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.report.PrefixCacheEventsCsv;
import understudy.report.RequestLog;
import understudy.report.RequestsCsv;
import understudy.report.Result;
import understudy.report.Timeline;
import understudy.report.TimelineReport;
import understudy.settings.ScenarioException;

/**
 * Files of a run's report; each file appears complete or not at all.
 *
 * @param json path of the report as JSON, or null
 * @param directory directory of the files that {@link #write} names, or null
 * @param html path of a page about the run, or null
 * @param trace path of a trace for Perfetto, or null
 */
record ReportFiles(
        @Nullable Path json,
        @Nullable Path directory,
        @Nullable Path html,
        @Nullable Path trace) {
    private static final String ROUTING = "routing.csv";

    /** Writes the content of a file. */
    interface Content {
        void writeTo(Writer out) throws IOException;
    }

    /**
     * Finds out before a long run, not after it, that its report has no place to go.
     *
     * @throws ScenarioException if a place cannot be written
     */
    static ReportFiles checked(
            @Nullable String json, @Nullable String directory, @Nullable String html, @Nullable String trace) {
        var files = new ReportFiles(
                writable("--json", json),
                path("--out", directory),
                writable("--html", html),
                writable("--trace", trace));
        if (files.directory != null) {
            files.requireDirectory("--out " + directory, files.directory);
        }
        var places = Stream.of(files.json, files.html, files.trace)
                .filter(Objects::nonNull)
                .toList();
        if (Set.copyOf(places).size() < places.size()) {
            throw new ScenarioException("--json, --html, --trace: two of them are to go to the same file");
        }
        return files;
    }

    /** Returns the path that was given for an option, which can be written, or null if none was. */
    static @Nullable Path writable(String option, @Nullable String name) {
        var file = path(option, name);
        if (file != null) {
            requireWritable(option + " " + name, file);
        }
        return file;
    }

    /** Returns the path that was given for an option, or null if none was. */
    static @Nullable Path path(String option, @Nullable String name) {
        if (name == null) {
            return null;
        }
        try {
            if (!name.isEmpty()) {
                return Path.of(name).toAbsolutePath();
            }
        } catch (InvalidPathException e) {
            throw new ScenarioException(option + " " + name + ": not a path: " + e.getReason());
        }
        throw new ScenarioException(option + ": needs a name");
    }

    private void requireDirectory(String option, Path wanted) {
        var existing = wanted;
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        if (!Files.isDirectory(existing)) {
            throw new ScenarioException(
                    option + ": " + (existing.equals(wanted) ? "" : existing + " is ") + "not a directory");
        }
        if (!Files.isWritable(existing)) {
            throw new ScenarioException(option + ": " + existing + " cannot be written");
        }
        for (String name : List.of("requests.csv", "prefix_cache_events.csv", "timeline.csv", "report.json", ROUTING)) {
            requireReplaceable(option, wanted.resolve(name));
        }
    }

    /** Refuses a file that cannot be written, or whose directory is not there. */
    static void requireWritable(String option, Path file) {
        requireReplaceable(option, file);
        var parent = file.getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw new ScenarioException(option + ": no such directory");
        }
    }

    private static void requireReplaceable(String option, Path file) {
        var parent = file.getParent();
        if (Files.isDirectory(file) || parent == null) {
            throw new ScenarioException(option + ": " + file + " is a directory");
        }
        if (Files.exists(file) ? !Files.isWritable(file) : Files.exists(parent) && !Files.isWritable(parent)) {
            throw new ScenarioException(option + ": " + file + " cannot be written");
        }
    }

    /** Writes all files that were asked for. */
    void write(Result figures, RequestLog requests, Timeline timeline) throws IOException {
        if (directory == null && json == null) {
            return;
        }
        String report = figures.indentedJson();
        if (directory != null) {
            Files.createDirectories(directory);
            write(directory.resolve("requests.csv"), out -> RequestsCsv.write(requests, out));
            write(directory.resolve("prefix_cache_events.csv"), out -> PrefixCacheEventsCsv.write(requests, out));
            if (timeline.isOn()) {
                write(directory.resolve("timeline.csv"), out -> TimelineReport.writeCsv(timeline, out));
            }
            write(directory.resolve("report.json"), out -> out.write(report));
        }
        writeJson(report);
    }

    /** Writes decisions of the router into the directory, if there is one. */
    void writeRouting(Content decisions) throws IOException {
        if (directory != null) {
            Files.createDirectories(directory);
            write(directory.resolve(ROUTING), decisions);
        }
    }

    /** Writes the page about the run, if it was asked for. */
    void writeHtml(Content page) throws IOException {
        if (html != null) {
            write(html, page);
        }
    }

    /** Writes the JSON file alone, if it was asked for. */
    void writeJson(String report) throws IOException {
        if (json != null) {
            writeText(json, report);
        }
    }

    /** Writes any text file, whole or not at all. */
    static void writeText(Path file, String text) throws IOException {
        write(file, out -> out.write(text));
    }

    /** Writes a file, whole or not at all. */
    static void write(Path file, Content content) throws IOException {
        try (var newFile = new NewFile(file)) {
            content.writeTo(newFile.writer());
            newFile.keep();
        }
    }
}

package understudy.app;

import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.app.console.Console;
import understudy.chaos.answer.JUnitXml;
import understudy.chaos.answer.KitJson;
import understudy.chaos.answer.KitPage;
import understudy.chaos.answer.KitResult;

/** Options for the files into which {@code chaos} writes its verdicts. */
final class ChaosAnswers {
    @Option(names = "--junit", paramLabel = "FILE", description = "Writes the verdicts as JUnit XML.")
    private @Nullable String junit;

    @Option(names = "--json", paramLabel = "FILE", description = "Writes the verdicts as JSON.")
    private @Nullable String json;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with the course of each call that broke a law.")
    private @Nullable String html;

    /** Finds out before the scenarios, not after them, that an answer has no place to go. */
    void requireWritable() {
        ReportFiles.writable("--junit", junit);
        ReportFiles.writable("--json", json);
        ReportFiles.writable("--html", html);
    }

    /** Writes what was asked for, and returns the exit code that follows. */
    int write(KitResult result, Console console) {
        int ofXml = write(console, junit, () -> JUnitXml.of(result));
        int ofJson = write(console, json, () -> KitJson.of(result));
        int ofPage = write(console, html, () -> KitPage.of(result));
        return Math.max(ofXml, Math.max(ofJson, ofPage));
    }

    private static int write(Console console, @Nullable String file, Supplier<String> text) {
        return file == null ? 0 : console.write(() -> NewFile.write(Path.of(file), text.get()));
    }
}

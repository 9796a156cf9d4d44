package understudy.app;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import understudy.report.RequestLog;
import understudy.report.RequestsCsv;

/** Writes what a run leaves behind; each file appears complete or not at all. */
final class ReportFiles {
    private ReportFiles() {}

    /** Writes {@code report.json} and {@code requests.csv} into a directory, which is made if need be. */
    static void writeDirectory(Path directory, String json, RequestLog requests) throws IOException {
        Files.createDirectories(directory);
        var csv = new StringWriter();
        RequestsCsv.write(requests, csv);
        write(directory.resolve("requests.csv"), csv.toString());
        write(directory.resolve("report.json"), json);
    }

    /** Writes a file by way of a temporary one beside it. */
    static void write(Path file, String text) throws IOException {
        var directory = file.toAbsolutePath().getParent();
        var temporary = Files.createTempFile(directory, "." + file.getFileName(), ".tmp");
        try {
            Files.writeString(temporary, text, StandardCharsets.UTF_8);
            move(temporary, file);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static void move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
        }
    }
}

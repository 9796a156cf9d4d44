package understudy.sweep;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import understudy.json.Jackson;
import understudy.settings.ScenarioException;

/**
 * File of results, a line of JSON each behind a first line that says what they are of. A line is written as soon as its
 * run has ended, so that a sweep that was killed goes on with the others; a last line without its end is dropped.
 */
final class SweepJournal implements AutoCloseable {
    private static final ObjectMapper JSON = Jackson.mapper();

    private final Path path;
    private final RandomAccessFile file;
    private final Map<String, PointResult> known = new LinkedHashMap<>();

    /**
     * Opens a file, new or of an earlier sweep.
     *
     * @param header names the sweep that the results belong to
     * @throws ScenarioException if the file has results of something else
     */
    SweepJournal(Path path, ObjectNode header) throws IOException {
        this.path = path;
        file = new RandomAccessFile(path.toFile(), "rw");
        try {
            String text = Files.readString(path);
            int end = text.lastIndexOf('\n') + 1;
            if (end == 0) {
                file.setLength(0);
                append(JSON.writeValueAsString(header));
            } else {
                read(text.substring(0, end), header);
                file.setLength(text.substring(0, end).getBytes(StandardCharsets.UTF_8).length);
                file.seek(file.length());
            }
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private void read(String text, ObjectNode header) {
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            try {
                if (number == 1) {
                    requireSame(JSON.readTree(line), header);
                } else {
                    var result = PointResult.fromJson(line);
                    known.put(result.name(), result);
                }
            } catch (JsonProcessingException | IllegalArgumentException e) {
                throw new ScenarioException(path + ":" + number + ": not a line of a sweep's results; remove the file");
            }
        }
    }

    private void requireSame(JsonNode found, ObjectNode header) {
        if (!found.isObject()) {
            throw new IllegalArgumentException("not an object");
        }
        for (var field : header.properties()) {
            if (!field.getValue().equals(found.get(field.getKey()))) {
                throw new ScenarioException(path + " has results of another sweep: " + field.getKey() + " is "
                        + found.get(field.getKey()) + ", and now " + field.getValue()
                        + "; remove it, or name another directory");
            }
        }
    }

    /** Returns the results of earlier sweeps, by the name of their point. */
    Map<String, PointResult> known() {
        return known;
    }

    /** Adds a result; it is in the file when this returns. */
    void add(PointResult result) throws IOException {
        append(result.toJson());
    }

    private void append(String line) throws IOException {
        file.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

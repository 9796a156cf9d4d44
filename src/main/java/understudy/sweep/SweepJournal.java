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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import understudy.scenario.ScenarioException;

/**
 * File of results, a line of JSON each behind a first line that says what they are of. A line is written as soon as its
 * run has ended, so that a sweep that was killed goes on with the others; a last line without its end is dropped.
 */
final class SweepJournal implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final List<String> FIELDS = List.of("point", "slo_met", "stopped_early", "report");

    private final Path path;
    private final RandomAccessFile file;
    private final Map<String, PointResult> known = new LinkedHashMap<>();

    /**
     * Opens a file, new or of an earlier sweep.
     *
     * @param header says what the results are of
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
                append(header);
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

    private void read(String text, ObjectNode header) throws IOException {
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            if (number == 1) {
                requireSame(parsed(line, number), header);
            } else {
                var result = result(parsed(line, number));
                known.put(result.name(), result);
            }
        }
    }

    private JsonNode parsed(String line, int number) {
        try {
            var parsed = JSON.readTree(line);
            if (number == 1 ? parsed.isObject() : FIELDS.stream().allMatch(parsed::has)) {
                return parsed;
            }
        } catch (JsonProcessingException e) {
            // named below
        }
        throw new ScenarioException(path + ":" + number + ": not a line of a sweep's results; remove the file");
    }

    private void requireSame(JsonNode found, ObjectNode header) {
        for (var field : header.properties()) {
            if (!field.getValue().equals(found.get(field.getKey()))) {
                throw new ScenarioException(path + " has results of another sweep: " + field.getKey() + " is "
                        + found.get(field.getKey()) + ", and now " + field.getValue()
                        + "; remove it, or name another directory");
            }
        }
    }

    private static PointResult result(JsonNode line) {
        var slo = line.get("slo_met");
        return new PointResult(
                line.get("point").asText(),
                slo.isNull() ? Optional.empty() : Optional.of(slo.asBoolean()),
                line.get("stopped_early").asBoolean(),
                (ObjectNode) line.get("report"));
    }

    /** Returns the results of earlier sweeps, by the name of their point. */
    Map<String, PointResult> known() {
        return known;
    }

    /** Adds a result; it is in the file when this returns. */
    void add(PointResult result) throws IOException {
        var line = JSON.createObjectNode();
        line.put("point", result.name());
        if (result.meetsSlo().isPresent()) {
            line.put("slo_met", result.meetsSlo().get());
        } else {
            line.putNull("slo_met");
        }
        line.put("stopped_early", result.isHopeless());
        line.set("report", result.figures());
        append(line);
    }

    private void append(ObjectNode line) throws IOException {
        file.write((JSON.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

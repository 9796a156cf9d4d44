package understudy.workload.servegen;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.TreeMap;
import understudy.json.Jackson;
import understudy.workload.files.TraceException;

/** The lengths of a client's requests over time: a file {@code chunk-N-dataset.json}. */
final class ClientLengths {
    private static final ObjectMapper JSON = Jackson.mapper();

    private final String file;
    private final TreeMap<Long, Tables> tables = new TreeMap<>();

    /**
     * Distributions that hold from a time on.
     *
     * @param reasoning the share of reasoning in an answer, from 0 to 1; empty if nothing is known of it
     */
    record Tables(LengthTable input, LengthTable output, LengthTable reasoning) {}

    private ClientLengths(String file) {
        this.file = file;
    }

    /** Reads a file. */
    static ClientLengths read(String file, byte[] content) {
        var lengths = new ClientLengths(file);
        try {
            JSON.readTree(content).properties().forEach(field -> lengths.put(field.getKey(), field.getValue()));
            return lengths;
        } catch (JsonProcessingException e) {
            throw new TraceException(file, e.getLocation().getLineNr(), "not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new TraceException(file, "not JSON: " + e.getMessage());
        }
    }

    private void put(String window, JsonNode value) {
        try {
            tables.put(
                    Long.parseLong(window),
                    new Tables(
                            table(window, value, "input_tokens"),
                            table(window, value, "output_tokens"),
                            table(window, value, "reason_ratio")));
        } catch (NumberFormatException e) {
            throw new TraceException(file, "has the window \"" + window + "\", which is not a time in seconds");
        }
    }

    private LengthTable table(String window, JsonNode value, String name) {
        if (!value.has(name) && !name.equals("reason_ratio")) {
            throw new TraceException(file, "window " + window + " has no " + name);
        }
        try {
            return LengthTable.parse(value.path(name).asText("{}"));
        } catch (IllegalArgumentException e) {
            throw new TraceException(file, "window " + window + ": " + name + " " + e.getMessage());
        }
    }

    /** Returns the distributions of a time, which are those of the window that it is in. */
    Tables at(long seconds) {
        var found = tables.floorEntry(seconds);
        if (found == null
                || found.getValue().input.isEmpty()
                || found.getValue().output.isEmpty()) {
            throw new TraceException(file, "has no lengths for second " + seconds + ", though requests come then");
        }
        return found.getValue();
    }
}

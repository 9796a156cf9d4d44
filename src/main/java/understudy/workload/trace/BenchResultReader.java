package understudy.workload.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.ints.IntArrays;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.settings.Numbers;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/**
 * Results of {@code vllm bench serve --save-result --save-detailed}: one JSON object with lists of {@code input_lens},
 * {@code output_lens} and, since vLLM 0.11, {@code start_times}. Without these the requests come at {@code request_rate},
 * equally far apart, or all at once if it is infinite. Requests that have failed have no output, and are left out. The
 * file says nothing about content, so no two prompts share anything. The lists are in memory.
 */
final class BenchResultReader implements TraceReader {
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();
    private static final double NANOS_PER_SECOND = 1e9;

    private final String file;
    private final DoubleArrayList inputs = new DoubleArrayList();
    private final DoubleArrayList outputs = new DoubleArrayList();
    private final DoubleArrayList starts = new DoubleArrayList();
    private double requestRate = Double.NaN;
    private final int[] order;
    private int numTaken;

    BenchResultReader(Path path) {
        file = path.toString();
        try (var json = JSON.createParser(TraceFile.open(path))) {
            read(json);
        } catch (JsonProcessingException e) {
            throw new TraceException(file, e.getLocation().getLineNr(), "not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw TraceFile.unreadable(file, e);
        }
        order = new int[inputs.size()];
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
        }
        check();
        if (!starts.isEmpty()) {
            IntArrays.stableSort(order, (a, b) -> Double.compare(starts.getDouble(a), starts.getDouble(b)));
        }
    }

    private void read(JsonParser json) throws IOException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            throw new TraceException(file, 1, "not a JSON object, as vllm bench serve writes it");
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            json.nextToken();
            switch (name) {
                case "input_lens" -> readList(json, name, inputs);
                case "output_lens" -> readList(json, name, outputs);
                case "start_times" -> readList(json, name, starts);
                case "request_rate" ->
                    requestRate =
                            json.getText().equals("inf") ? Double.POSITIVE_INFINITY : Numbers.parse(json.getText());
                default -> json.skipChildren();
            }
        }
    }

    private void readList(JsonParser json, String name, DoubleArrayList into) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw new TraceException(file, json.currentLocation().getLineNr(), name + " is not a list");
        }
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (!json.currentToken().isNumeric()) {
                throw new TraceException(
                        file,
                        json.currentLocation().getLineNr(),
                        name + " has " + json.getText() + ", which is not a number");
            }
            into.add(json.getDoubleValue());
        }
    }

    private void check() {
        if (inputs.isEmpty() || inputs.size() != outputs.size()) {
            throw new TraceException(
                    file,
                    "has " + inputs.size() + " input_lens and " + outputs.size()
                            + " output_lens, must be as many of both, which vllm bench serve writes with"
                            + " --save-detailed");
        }
        if (!starts.isEmpty() && starts.size() != inputs.size()) {
            throw new TraceException(
                    file, "has " + inputs.size() + " input_lens, but " + starts.size() + " start_times");
        }
        if (starts.isEmpty() && !(requestRate > 0)) {
            throw new TraceException(file, "has neither start_times nor a request_rate above 0, so no arrivals");
        }
    }

    @Override
    public @Nullable TraceRow next() {
        while (numTaken < order.length) {
            int index = order[numTaken++];
            int output = length("output_lens", outputs, index, 0);
            if (output > 0) {
                return TraceRow.of(index + 1L, arrivalNanos(index), length("input_lens", inputs, index, 1), output);
            }
        }
        return null;
    }

    private long arrivalNanos(int index) {
        double seconds = starts.isEmpty() ? index / requestRate : starts.getDouble(index) - starts.getDouble(order[0]);
        return Math.round(seconds * NANOS_PER_SECOND);
    }

    private int length(String name, DoubleArrayList lengths, int index, int min) {
        double length = lengths.getDouble(index);
        if (!(length >= min && length <= Integer.MAX_VALUE)) {
            throw new TraceException(
                    file, name + " of request " + (index + 1) + " is " + length + ", must be at least " + min);
        }
        return (int) length;
    }

    @Override
    public void close() {
        // Rows that were read stay in memory until the reader itself goes.
    }
}

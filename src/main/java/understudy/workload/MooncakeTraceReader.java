package understudy.workload;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.SegmentedTokens;

/**
 * The Mooncake traces: JSON lines {@code {timestamp, input_length, output_length, hash_ids}}, timestamp in milliseconds,
 * one hash id for every 512 prompt tokens, the last one for what is left. Equal ids stand for equal tokens. A field {@code
 * priority} is ours; all others are passed over.
 *
 * <p>See <a href="https://github.com/kvcache-ai/Mooncake">Mooncake</a>, {@code FAST25-release/traces}.
 */
public final class MooncakeTraceReader implements TraceReader {
    /** Prompt tokens that one hash id stands for. */
    public static final int TOKENS_PER_HASH_ID = 512;

    private static final JsonFactory JSON = new JsonFactory();
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double MAX_TIMESTAMP_MILLIS = 1e12;
    private static final double MISSING = Double.NaN;

    private final String file;
    private final BufferedReader lines;
    private final LongArrayList hashIds = new LongArrayList();
    private long lineNumber;
    private double timestampMillis;
    private double inputLength;
    private double outputLength;
    private double priority;
    private boolean hasHashIds;

    /** Opens a trace. */
    public MooncakeTraceReader(Path file) {
        this.file = file.toString();
        lines = new BufferedReader(new InputStreamReader(TraceFile.open(file), StandardCharsets.UTF_8));
    }

    @Override
    public @Nullable TraceRow next() {
        try {
            String line = lines.readLine();
            lineNumber++;
            while (line != null && line.isBlank()) {
                line = lines.readLine();
                lineNumber++;
            }
            return line == null ? null : row(lineNumber == 1 ? withoutByteOrderMark(line) : line);
        } catch (IOException e) {
            throw TraceFile.unreadable(file, e);
        }
    }

    @Override
    public void close() {
        try {
            lines.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String withoutByteOrderMark(String line) {
        return line.startsWith("\ufeff") ? line.substring(1) : line;
    }

    private TraceRow row(String line) throws IOException {
        parse(line);
        int promptTokens = whole("input_length", inputLength, 1);
        int outputTokens = whole("output_length", outputLength, 1);
        if (!(timestampMillis >= 0 && timestampMillis <= MAX_TIMESTAMP_MILLIS)) {
            throw missingOr("timestamp", timestampMillis, "from 0 to " + plain(MAX_TIMESTAMP_MILLIS));
        }
        if (!hasHashIds) {
            throw problem("field hash_ids is missing");
        }
        if ((long) hashIds.size() * TOKENS_PER_HASH_ID < promptTokens) {
            throw problem("input_length is " + promptTokens + ", but the " + hashIds.size() + " hash_ids cover at most "
                    + (long) hashIds.size() * TOKENS_PER_HASH_ID + " tokens");
        }
        var prompt = SegmentedTokens.ofBlocks(hashIds.toLongArray(), TOKENS_PER_HASH_ID, promptTokens);
        long arrivalNanos = Math.round(timestampMillis * NANOS_PER_MILLI);
        return new TraceRow(
                lineNumber, arrivalNanos, prompt, outputTokens, whole("priority", priority, Integer.MIN_VALUE));
    }

    private void parse(String line) throws IOException {
        timestampMillis = MISSING;
        inputLength = MISSING;
        outputLength = MISSING;
        priority = 0;
        hasHashIds = false;
        hashIds.clear();
        try (var json = JSON.createParser(line)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw problem("not a JSON object");
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                parseField(json);
            }
            if (json.nextToken() != null) {
                throw problem("something follows the JSON object");
            }
        } catch (JsonProcessingException e) {
            throw problem("not JSON: " + e.getOriginalMessage());
        }
    }

    private void parseField(JsonParser json) throws IOException {
        String name = json.currentName();
        json.nextToken();
        switch (name) {
            case "timestamp" -> timestampMillis = number(json, name);
            case "input_length" -> inputLength = number(json, name);
            case "output_length" -> outputLength = number(json, name);
            case "priority" -> priority = number(json, name);
            case "hash_ids" -> parseHashIds(json);
            default -> json.skipChildren();
        }
    }

    private void parseHashIds(JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw problem("hash_ids is not a list of whole numbers");
        }
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
                throw problem("hash_ids has " + json.getText() + ", which is not a whole number");
            }
            hashIds.add(Segments.ofTraceBlock(json.getLongValue()));
        }
        hasHashIds = true;
    }

    private double number(JsonParser json, String name) throws IOException {
        if (!json.currentToken().isNumeric()) {
            throw problem(name + " is " + json.getText() + ", which is not a number");
        }
        return json.getDoubleValue();
    }

    private int whole(String name, double value, int min) {
        if (!(value >= min && value <= Integer.MAX_VALUE) || value != Math.rint(value)) {
            throw missingOr(name, value, "a whole number of at least " + min);
        }
        return (int) value;
    }

    private TraceException missingOr(String name, double value, String allowed) {
        return problem(
                Double.isNaN(value)
                        ? "field " + name + " is missing"
                        : name + " is " + plain(value) + ", must be " + allowed);
    }

    private static String plain(double value) {
        return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
    }

    private TraceException problem(String what) {
        return new TraceException(file, lineNumber, what);
    }
}

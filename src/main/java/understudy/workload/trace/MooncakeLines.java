package understudy.workload.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;

/**
 * The lines of a Mooncake trace, one JSON object each: {@code {timestamp, input_length, output_length, hash_ids}},
 * timestamp in milliseconds. A field {@code priority} is ours; all others are passed over, and so are blank lines. A
 * line's fields hold until the next one is read.
 */
public final class MooncakeLines implements Closeable {
    private static final JsonFactory JSON = new JsonFactory();
    private static final double MAX_TIMESTAMP_MILLIS = 1e12;
    private static final double MAX_EXACT = 1e15;
    private static final double MISSING = Double.NaN;
    private static final Pattern START_MARKER = Pattern.compile(" \\(start marker at .*");

    private final String file;
    private final ByteLines lines;
    private final LongArrayList hashIds = new LongArrayList();
    private double timestampMillis;
    private double inputLength;
    private double outputLength;
    private double priority;
    private boolean hasHashIds;

    /** Reads from {@code in}, which is closed with this; the file's name is for messages. */
    public MooncakeLines(InputStream in, String file) {
        this.file = file;
        lines = new ByteLines(in, file);
    }

    /** Goes to the next request, and returns whether there is one. */
    public boolean next() {
        while (lines.next()) {
            if (!lines.isBlank()) {
                parse();
                return true;
            }
        }
        return false;
    }

    public String file() {
        return file;
    }

    /** Returns where the request stands in its file, from 1. */
    public long line() {
        return lines.number();
    }

    public double timestampMillis() {
        if (!(timestampMillis >= 0 && timestampMillis <= MAX_TIMESTAMP_MILLIS)) {
            throw missingOr("timestamp", timestampMillis, "from 0 to " + plain(MAX_TIMESTAMP_MILLIS));
        }
        return timestampMillis;
    }

    public int inputLength() {
        return whole("input_length", inputLength, 1);
    }

    public int outputLength() {
        return whole("output_length", outputLength, 1);
    }

    int priority() {
        return whole("priority", priority, Integer.MIN_VALUE);
    }

    public LongList hashIds() {
        if (!hasHashIds) {
            throw problem("field hash_ids is missing");
        }
        return hashIds;
    }

    /** Returns the exception for a line that cannot be used. */
    public TraceException problem(String what) {
        return new TraceException(file, lines.number(), what);
    }

    @Override
    public void close() {
        lines.close();
    }

    private void parse() {
        timestampMillis = MISSING;
        inputLength = MISSING;
        outputLength = MISSING;
        priority = 0;
        hasHashIds = false;
        hashIds.clear();
        try (var json = JSON.createParser(lines.bytes(), lines.start(), lines.length())) {
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
            // Where in the line it began says nothing that its number does not.
            throw problem(
                    "not JSON: " + START_MARKER.matcher(e.getOriginalMessage()).replaceAll(""));
        } catch (IOException e) {
            throw problem("not JSON: " + e.getMessage()); // an encoding that is not one of Unicode's
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
        hashIds.clear();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
                throw problem("hash_ids has " + json.getText() + ", which is not a whole number");
            }
            hashIds.add(hashId(json));
        }
        hasHashIds = true;
    }

    private long hashId(JsonParser json) throws IOException {
        long id;
        try {
            id = json.getLongValue();
        } catch (InputCoercionException e) {
            id = -1;
        }
        if (id < 0) {
            throw problem("hash_ids has " + json.getText() + ", must be whole numbers from 0 to " + Long.MAX_VALUE);
        }
        return id;
    }

    private double number(JsonParser json, String name) throws IOException {
        if (!json.currentToken().isNumeric()) {
            throw problem(name + " is " + json.getText() + ", which is not a number");
        }
        return json.getDoubleValue();
    }

    private int whole(String name, double value, int min) {
        if (!(value >= min) || value != Math.rint(value)) {
            throw missingOr(name, value, "a whole number of at least " + min);
        }
        if (value > Integer.MAX_VALUE) {
            throw missingOr(name, value, "at most " + Integer.MAX_VALUE);
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
        return value == Math.rint(value) && Math.abs(value) < MAX_EXACT
                ? String.valueOf((long) value)
                : String.valueOf(value);
    }
}

package understudy.workload.trace;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import understudy.json.Jackson;
import understudy.workload.files.TraceException;

/**
 * The lines of a trace of JSON lines, one object for each request, in any of three formats, which their fields tell
 * apart: Mooncake's, that of Qwen-Bailian, and our own, whose first line is a header. Fields that are not known are
 * passed over, and so are blank lines. A line's fields hold until the next one is read.
 */
public final class TraceLines implements Closeable {
    private static final Set<String> NUMBERS = Set.of(
            "timestamp",
            "time",
            "input_length",
            "output_length",
            "priority",
            "chat_id",
            "parent_chat_id",
            "session",
            "turn",
            "max_tokens",
            "block_size",
            "version");
    private static final Set<String> TEXTS = Set.of("format", "user", "lora");
    private static final double MAX_MILLIS = 1e12;
    private static final double MAX_EXACT = 1e15;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final Pattern START_MARKER = Pattern.compile(" \\(start marker at .*");

    private final String file;
    private final ByteLines lines;
    private final Map<String, Double> numbers = new HashMap<>();
    private final Map<String, String> texts = new HashMap<>();
    private final LongArrayList hashIds = new LongArrayList();
    private final LongArrayList outputHashIds = new LongArrayList();
    private boolean hasHashIds;
    private int blockSize;

    /** Reads from {@code in}, which is closed with this; the file's name is for messages. */
    public TraceLines(InputStream in, String file) {
        this.file = file;
        lines = new ByteLines(in, file);
    }

    /** Goes to the next request, and returns whether there is one. */
    public boolean next() {
        while (lines.next()) {
            if (isCutOff()) {
                return false;
            }
            if (!lines.isBlank()) {
                parse();
                if (!texts.containsKey("format")) {
                    return true;
                }
                takeHeader();
            }
        }
        return false;
    }

    /** Returns whether a writer of our own format was killed in the middle of the last line. */
    private boolean isCutOff() {
        return blockSize > 0 && !lines.hasBreak();
    }

    private void takeHeader() {
        if (!text("format").equals(TraceFormat.HEADER) || wholeNumber("version", 1, 0) != TraceFormat.VERSION) {
            throw problem("the format is not " + TraceFormat.HEADER + ", version " + TraceFormat.VERSION);
        }
        blockSize = wholeNumber("block_size", 1);
    }

    public String file() {
        return file;
    }

    /** Returns where the request stands in its file, from 1. */
    public long line() {
        return lines.number();
    }

    /** Returns the tokens of a block as the header has them; 0 if there is no header. */
    public int blockSize() {
        return blockSize;
    }

    /** Returns whether the request is one of Qwen-Bailian. */
    boolean isBailian() {
        return has("chat_id");
    }

    boolean has(String name) {
        return numbers.containsKey(name);
    }

    /** Returns the arrival on the clock of the trace: Mooncake has milliseconds, the others have seconds. */
    public double timestampMillis() {
        String name = blockSize > 0 ? "time" : "timestamp";
        boolean isInSeconds = blockSize > 0 || isBailian();
        double max = isInSeconds ? MAX_MILLIS / MILLIS_PER_SECOND : MAX_MILLIS;
        double given = numbers.getOrDefault(name, Double.NaN);
        if (!(given >= 0 && given <= max)) {
            throw missingOr(name, given, "from 0 to " + plain(max));
        }
        return isInSeconds ? given * MILLIS_PER_SECOND : given;
    }

    long arrivalNanos() {
        return Math.round(timestampMillis() * NANOS_PER_MILLI);
    }

    public int inputLength() {
        return wholeNumber("input_length", 1);
    }

    public int outputLength() {
        return wholeNumber("output_length", 1);
    }

    /** Returns a number that must be there. */
    int wholeNumber(String name, int min) {
        return whole(name, numbers.getOrDefault(name, Double.NaN), min);
    }

    /** Returns a number that need not be there. */
    int wholeNumber(String name, int min, int usual) {
        return whole(name, numbers.getOrDefault(name, (double) usual), min);
    }

    /** Returns a number of 53 bits that must be there. */
    long longNumber(String name) {
        double value = numbers.getOrDefault(name, Double.NaN);
        if (!(value >= 0 && value <= MAX_EXACT) || value != Math.rint(value)) {
            throw missingOr(name, value, "a whole number from 0 to " + plain(MAX_EXACT - 1));
        }
        return (long) value;
    }

    /** Returns a text, empty if there is none. */
    String text(String name) {
        return texts.getOrDefault(name, "");
    }

    public LongList hashIds() {
        if (!hasHashIds && blockSize == 0) {
            throw problem("field hash_ids is missing");
        }
        return hashIds;
    }

    /** Returns the blocks behind those of the prompt: the first may begin in it, and all end in the answer. */
    LongList outputHashIds() {
        return outputHashIds;
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
        numbers.clear();
        texts.clear();
        hasHashIds = false;
        hashIds.clear();
        outputHashIds.clear();
        try (var json = Jackson.FACTORY.createParser(lines.bytes(), lines.start(), lines.length())) {
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
            // The parser's column within the line says nothing that the line's number does not.
            throw problem(
                    "not JSON: " + START_MARKER.matcher(e.getOriginalMessage()).replaceAll(""));
        } catch (IOException e) {
            throw problem("not JSON: " + e.getMessage()); // an encoding that is not one of Unicode's
        }
    }

    private void parseField(JsonParser json) throws IOException {
        String name = json.currentName();
        json.nextToken();
        if (NUMBERS.contains(name)) {
            if (!json.currentToken().isNumeric()) {
                throw problem(name + " is " + json.getText() + ", which is not a number");
            }
            numbers.put(name, json.getDoubleValue());
        } else if (TEXTS.contains(name)) {
            if (json.currentToken() != JsonToken.VALUE_STRING) {
                throw problem(name + " is " + json.getText() + ", which is not a text");
            }
            texts.put(name, json.getText());
        } else if (name.equals("hash_ids")) {
            parseHashIds(json, name, hashIds);
            hasHashIds = true;
        } else if (name.equals("output_hash_ids")) {
            parseHashIds(json, name, outputHashIds);
        } else {
            json.skipChildren();
        }
    }

    private void parseHashIds(JsonParser json, String name, LongArrayList into) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw problem(name + " is not a list of whole numbers");
        }
        into.clear();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
                throw problem(name + " has " + json.getText() + ", which is not a whole number");
            }
            into.add(hashId(json, name));
        }
    }

    private long hashId(JsonParser json, String name) throws IOException {
        long id;
        try {
            id = json.getLongValue();
        } catch (InputCoercionException e) {
            id = -1;
        }
        if (id < 0) {
            throw problem(name + " has " + json.getText() + ", must be whole numbers from 0 to " + Long.MAX_VALUE);
        }
        return id;
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

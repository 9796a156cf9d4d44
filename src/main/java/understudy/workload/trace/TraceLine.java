package understudy.workload.trace;

import com.fasterxml.jackson.core.JsonGenerator;
import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import understudy.json.Jackson;
import understudy.prompt.BlockHasher;
import understudy.prompt.Prompt;
import understudy.prompt.SequenceTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenPrefix;
import understudy.prompt.TokenSource;

/**
 * Line of our own format, with its line break.
 *
 * @param atNanos from the beginning of the trace
 * @param blockHashes of the full blocks of prompt and answer, the first of them in the prompt; at least 0 each
 * @param maxTokens most that the sender accepted
 * @param priority smaller is more urgent
 * @param user name of the sender's user; empty if none is given
 * @param loraName the LoRA adapter's name; empty for the base model
 * @param text the prompt, or null to leave it out
 */
@RecordBuilder
public record TraceLine(
        long atNanos,
        int numPromptTokens,
        int numOutputTokens,
        LongList blockHashes,
        int numPromptBlocks,
        SessionTurn turn,
        int maxTokens,
        boolean ignoresEos,
        int priority,
        String user,
        String loraName,
        @Nullable String text) {
    private static final int NANO_DIGITS = 9;

    /** Field that must be written. */
    private interface Body {
        void write(JsonGenerator json) throws IOException;
    }

    /** Returns the line that begins a file. */
    public static byte[] header(int blockSize) {
        return bytes(json -> {
            json.writeStringField("format", TraceFormat.HEADER);
            json.writeNumberField("version", TraceFormat.VERSION);
            json.writeNumberField("block_size", blockSize);
        });
    }

    /** Returns the hashes of a prompt and the first tokens of its answer, without their signs. */
    public static LongList hashes(Prompt prompt, TokenSource answer, int numOutputTokens, BlockHasher hasher) {
        int length = prompt.length() + numOutputTokens;
        var whole = new TokenPrefix(new SequenceTokens(prompt.tokens(), answer), length);
        long[] hashes = new Prompt(whole, prompt.loraName(), prompt.cacheSalt()).blockHashes(hasher);
        long[] positive = new long[hashes.length];
        for (int i = 0; i < hashes.length; i++) {
            positive[i] = hashes[i] & Long.MAX_VALUE;
        }
        return LongList.of(positive);
    }

    /** Returns the line in UTF-8. */
    public byte[] bytes() {
        return bytes(this::write);
    }

    private void write(JsonGenerator json) throws IOException {
        json.writeFieldName("time");
        json.writeNumber(
                BigDecimal.valueOf(atNanos, NANO_DIGITS).stripTrailingZeros().toPlainString());
        json.writeNumberField("input_length", numPromptTokens);
        json.writeNumberField("output_length", numOutputTokens);
        write("hash_ids", 0, numPromptBlocks, json);
        write("output_hash_ids", numPromptBlocks, blockHashes.size(), json);
        if (turn.isInSession()) {
            json.writeNumberField("session", turn.sessionId());
            json.writeNumberField("turn", turn.turn());
        }
        json.writeNumberField("max_tokens", maxTokens);
        json.writeBooleanField("ignore_eos", ignoresEos);
        if (priority != 0) {
            json.writeNumberField("priority", priority);
        }
        if (!user.isEmpty()) {
            json.writeStringField("user", user);
        }
        if (!loraName.isEmpty()) {
            json.writeStringField("lora", loraName);
        }
        if (text != null) {
            json.writeStringField("text", text);
        }
    }

    private void write(String name, int from, int to, JsonGenerator json) throws IOException {
        json.writeArrayFieldStart(name);
        for (int i = from; i < to; i++) {
            json.writeNumber(blockHashes.getLong(i));
        }
        json.writeEndArray();
    }

    private static byte[] bytes(Body body) {
        var bytes = new ByteArrayOutputStream();
        try (var json = Jackson.FACTORY.createGenerator(bytes)) {
            json.writeStartObject();
            body.write(json);
            json.writeEndObject();
            json.writeRaw('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}

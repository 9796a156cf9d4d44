package understudy.workload.trace;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.prompt.SessionTurn;
import understudy.workload.files.TraceFile;

/**
 * Traces of JSON lines. Equal hash ids stand for equal tokens.
 *
 * <ul>
 *   <li><a href="https://github.com/kvcache-ai/Mooncake">Mooncake</a>, {@code FAST25-release/traces}: {@code {timestamp,
 *       input_length, output_length, hash_ids}}, timestamp in milliseconds, one hash id for every 512 prompt tokens, the
 *       last one for what is left. A field {@code priority} is ours.
 *   <li><a href="https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon">Qwen-Bailian</a>: beside these {@code
 *       chat_id, parent_chat_id, turn}, timestamp in seconds, one hash id for every 16 prompt tokens. Which conversation a
 *       call belongs to is kept for each.
 *   <li>Our own, with a header, as the manual has it.
 * </ul>
 */
public final class JsonTraceReader implements TraceReader {
    /** Prompt tokens that one hash id of Mooncake stands for. */
    public static final int TOKENS_PER_HASH_ID = 512;

    private static final int TOKENS_PER_HASH_ID_OF_BAILIAN = 16;
    private static final long NONE = -1;

    private final TraceLines lines;
    private final Long2LongOpenHashMap sessionByChat = new Long2LongOpenHashMap();

    /** Opens a trace. */
    public JsonTraceReader(Path file) {
        lines = new TraceLines(TraceFile.open(file), file.toString());
        sessionByChat.defaultReturnValue(NONE);
    }

    @Override
    public @Nullable TraceRow next() {
        return lines.next() ? row() : null;
    }

    @Override
    public void close() {
        lines.close();
    }

    private TraceRow row() {
        int promptTokens = lines.inputLength();
        int outputTokens = lines.outputLength();
        long arrivalNanos = lines.arrivalNanos();
        int blockTokens = blockTokens();
        var blocks = new LongArrayList(lines.hashIds());
        check(promptTokens, blocks.size(), blockTokens);
        return TraceRowBuilder.builder()
                .line(lines.line())
                .arrivalNanos(arrivalNanos)
                .numPromptTokens(promptTokens)
                .blockIds(blocks)
                .blockTokens(blockTokens)
                .outputBlockIds(new LongArrayList(lines.outputHashIds()))
                .numOutputTokens(outputTokens)
                .maxTokens(lines.wholeNumber("max_tokens", 0, 0))
                .priority(lines.wholeNumber("priority", Integer.MIN_VALUE, 0))
                .tenant(lines.text("user"))
                .loraName(lines.text("lora"))
                .turn(lines.isBailian() ? turnOfChat() : turn())
                .build();
    }

    private int blockTokens() {
        if (lines.blockSize() > 0) {
            return lines.blockSize();
        }
        return lines.isBailian() ? TOKENS_PER_HASH_ID_OF_BAILIAN : TOKENS_PER_HASH_ID;
    }

    private void check(int promptTokens, int numBlocks, int blockTokens) {
        boolean isMooncake = blockTokens == TOKENS_PER_HASH_ID && lines.blockSize() == 0;
        long numCovered = (long) numBlocks * blockTokens;
        if (isMooncake && numCovered < promptTokens) {
            throw lines.problem("input_length is " + promptTokens + ", but the " + numBlocks
                    + " hash_ids cover at most " + numCovered + " tokens");
        }
        if (lines.blockSize() > 0 && numBlocks != promptTokens / blockTokens) {
            throw lines.problem("input_length is " + promptTokens + ", which is " + promptTokens / blockTokens
                    + " full blocks of " + blockTokens + " tokens, but hash_ids has " + numBlocks);
        }
    }

    private SessionTurn turn() {
        return lines.has("session")
                ? SessionTurn.of(lines.longNumber("session"), lines.wholeNumber("turn", 1, 1))
                : SessionTurn.NONE;
    }

    /** The first call of a conversation gives it its number; a call whose parent is not in the file begins one. */
    private SessionTurn turnOfChat() {
        long chat = lines.longNumber("chat_id");
        long session = sessionByChat.get(
                lines.has("parent_chat_id") && lines.wholeNumber("parent_chat_id", -1) >= 0
                        ? lines.longNumber("parent_chat_id")
                        : NONE);
        session = session == NONE ? chat : session;
        sessionByChat.put(chat, session);
        return SessionTurn.of(session, lines.wholeNumber("turn", 1));
    }
}

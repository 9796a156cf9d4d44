package understudy.workload.trace;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;

/**
 * The Mooncake traces: JSON lines {@code {timestamp, input_length, output_length, hash_ids}}, timestamp in
 * milliseconds, one hash id for every 512 prompt tokens, the last one for what is left. Equal ids stand for equal
 * tokens. A field {@code priority} is ours; all others are passed over.
 *
 * <p>See <a href="https://github.com/kvcache-ai/Mooncake">Mooncake</a>, {@code FAST25-release/traces}.
 */
public final class MooncakeTraceReader implements TraceReader {
    /** Prompt tokens that one hash id stands for. */
    public static final int TOKENS_PER_HASH_ID = 512;

    private static final double NANOS_PER_MILLI = 1e6;

    private final MooncakeLines lines;

    /** Opens a trace. */
    public MooncakeTraceReader(Path file) {
        lines = new MooncakeLines(TraceFile.open(file), file.toString());
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
        long arrivalNanos = Math.round(lines.timestampMillis() * NANOS_PER_MILLI);
        long[] blocks = lines.hashIds().toLongArray();
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = Segments.ofTraceBlock(blocks[i]);
        }
        long coveredTokens = (long) blocks.length * TOKENS_PER_HASH_ID;
        if (coveredTokens < promptTokens) {
            throw lines.problem("input_length is " + promptTokens + ", but the " + blocks.length
                    + " hash_ids cover at most " + coveredTokens + " tokens");
        }
        var prompt = SegmentedTokens.ofBlocks(blocks, TOKENS_PER_HASH_ID, promptTokens);
        return new TraceRow(lines.line(), arrivalNanos, prompt, outputTokens, lines.priority(), "");
    }
}

package understudy.workload.trace;

import it.unimi.dsi.fastutil.longs.LongList;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.prompt.SessionTurn;

/**
 * A plain trace: CSV with the columns {@code arrival_s, input_toks, output_toks} and, optionally, {@code
 * shared_prefix_block_ids}, numbers separated by spaces that each stand for one block of prompt tokens at the
 * beginning. The rest of a prompt is its own. So are {@code priority} optional, smaller ones being more urgent, and
 * {@code tenant}, the name of who pays. Other columns are passed over.
 */
public final class CsvTraceReader implements TraceReader {
    private static final List<String> COLUMNS = List.of("arrival_s", "input_toks", "output_toks");
    private static final String SHARED_BLOCKS = "shared_prefix_block_ids";
    private static final String PRIORITY = "priority";
    private static final Pattern SEPARATOR = Pattern.compile("[ ;|]+");
    private static final double NANOS_PER_SECOND = 1e9;

    private final CsvTable table;
    private final int tokensPerBlock;

    /**
     * Opens a trace.
     *
     * @param tokensPerBlock prompt tokens that one id of {@code shared_prefix_block_ids} stands for
     */
    public CsvTraceReader(Path file, int tokensPerBlock) {
        table = new CsvTable(file);
        this.tokensPerBlock = tokensPerBlock;
    }

    @Override
    public @Nullable TraceRow next() {
        if (!table.next(COLUMNS)) {
            return null;
        }
        long arrivalNanos = Math.round(table.seconds("arrival_s") * NANOS_PER_SECOND);
        int promptTokens = table.wholeNumber("input_toks", 1);
        int outputTokens = table.wholeNumber("output_toks", 1);
        long[] shared = sharedBlocks();
        if ((long) shared.length * tokensPerBlock > promptTokens) {
            throw table.problem("input_toks is " + promptTokens + ", but " + SHARED_BLOCKS + " names " + shared.length
                    + " blocks of " + tokensPerBlock);
        }
        return TraceRowBuilder.builder()
                .line(table.line())
                .arrivalNanos(arrivalNanos)
                .numPromptTokens(promptTokens)
                .blockIds(LongList.of(shared))
                .blockTokens(tokensPerBlock)
                .outputBlockIds(LongList.of())
                .numOutputTokens(outputTokens)
                .maxTokens(0)
                .priority(priority())
                .tenant(table.text("tenant"))
                .loraName("")
                .turn(SessionTurn.NONE)
                .build();
    }

    @Override
    public void close() {
        table.close();
    }

    private int priority() {
        return table.text(PRIORITY).isEmpty() ? 0 : table.wholeNumber(PRIORITY, Integer.MIN_VALUE);
    }

    private long[] sharedBlocks() {
        String text = table.text(SHARED_BLOCKS);
        if (text.isEmpty()) {
            return new long[0];
        }
        try {
            return SEPARATOR.splitAsStream(text).mapToLong(Long::parseLong).toArray();
        } catch (NumberFormatException e) {
            throw table.unusable(SHARED_BLOCKS, text, "whole numbers separated by spaces");
        }
    }
}

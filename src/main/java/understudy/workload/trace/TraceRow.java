package understudy.workload.trace;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;
import understudy.prompt.SessionTurn;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.TokenSource;
import understudy.prompt.TokenSuffix;

/**
 * One request of a trace.
 *
 * @param line number of its line in the file, from 1
 * @param arrivalNanos on the clock of the trace, at least 0
 * @param numPromptTokens at least 1
 * @param blockIds names of the blocks with which the prompt begins; equal ids stand for equal tokens, and what no block
 *     covers is a text of its own
 * @param blockTokens tokens of each block but for the last one, which the prompt may cut; at least 1
 * @param outputBlockIds names of the blocks behind these, which end in the answer; none if nothing is known of it
 * @param numOutputTokens at least 1
 * @param maxTokens most that the sender accepted; 0 if the trace says nothing
 * @param priority smaller is more urgent; 0 if the trace says nothing
 * @param tenant customer who pays for it; empty if the trace says nothing
 * @param loraName the LoRA adapter's name; empty for the base model
 * @param turn the place in a conversation
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record TraceRow(
        long line,
        long arrivalNanos,
        int numPromptTokens,
        LongList blockIds,
        int blockTokens,
        LongList outputBlockIds,
        int numOutputTokens,
        int maxTokens,
        int priority,
        String tenant,
        String loraName,
        SessionTurn turn)
        implements TraceRowBuilder.With {
    /** More than any model can say. */
    private static final int MAX_ANSWER_TOKENS = 1 << 30;

    /** Returns a request of which no more than its time and its lengths are known. */
    public static TraceRow of(long line, long arrivalNanos, int numPromptTokens, int numOutputTokens) {
        return TraceRowBuilder.builder()
                .line(line)
                .arrivalNanos(arrivalNanos)
                .numPromptTokens(numPromptTokens)
                .blockIds(LongList.of())
                .blockTokens(1)
                .outputBlockIds(LongList.of())
                .numOutputTokens(numOutputTokens)
                .tenant("")
                .loraName("")
                .turn(SessionTurn.NONE)
                .build();
    }

    /** Returns the tokens of the prompt, made up from the blocks. */
    public SegmentedTokens prompt() {
        return tokens(numPromptTokens);
    }

    /**
     * Returns the tokens of the answer: those that its blocks name, or what a model would say.
     *
     * @param textId unique in the run
     */
    TokenSource answer(long textId) {
        return outputBlockIds.isEmpty()
                ? new SyntheticTokens(Segments.ofAnswer(textId))
                : new TokenSuffix(tokens(numPromptTokens + MAX_ANSWER_TOKENS), numPromptTokens);
    }

    private SegmentedTokens tokens(int length) {
        var ids = new LongArrayList(blockIds);
        ids.addAll(outputBlockIds);
        int numCovered = (int) Math.min(length, (long) ids.size() * blockTokens);
        return SegmentedTokens.ofBlocks(ids.toLongArray(), blockTokens, numCovered)
                .append(Segments.ofUniqueText(line), length - numCovered);
    }
}

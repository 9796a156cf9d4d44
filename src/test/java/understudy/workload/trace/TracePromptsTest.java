package understudy.workload.trace;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import understudy.prompt.CountingHasher;
import understudy.prompt.Prompt;
import understudy.prompt.Xxh3BlockHasher;

/** Rows of named blocks of 64 tokens, hashed in blocks of 16: four for each name. */
final class TracePromptsTest {
    private final TracePrompts prompts = new TracePrompts();
    private final CountingHasher hasher = new CountingHasher(new Xxh3BlockHasher(16));
    private long line;

    /** A turn of a conversation brings one name more, and 10 tokens of its own that no name stands for. */
    @Test
    void nextTurn_isHashedFromWhereTheLastOneEnded() {
        assertThat(numHashed(138, 1, 2)).isEqualTo(8);
        assertThat(numHashed(202, 1, 2, 3)).isEqualTo(4);
        assertThat(numHashed(202, 1, 2, 3)).isZero();
    }

    @Test
    void promptThatPartsFromAnotherOne_sharesTheBlocksBefore() {
        assertThat(numHashed(192, 1, 2, 3)).isEqualTo(12);
        assertThat(numHashed(192, 1, 4, 5)).isEqualTo(8);
    }

    /** Names that stand for the same tokens behind different ones: nothing is shared, and all hashes are right. */
    @Test
    void blockBehindOtherOnes_isHashedAgain() {
        assertThat(numHashed(128, 1, 2)).isEqualTo(8);
        assertThat(numHashed(128, 3, 2)).isEqualTo(8);
    }

    /** 16,384 names later that of the first prompt is forgotten. */
    @Test
    void onlyTheLastNames_areRemembered() {
        assertThat(numHashed(64, 1)).isEqualTo(4);
        prompts.of(row(64 << 14, LongStream.range(2, 2 + (1 << 14)).toArray()));
        assertThat(numHashed(64, 1)).isEqualTo(4);
    }

    /** Hashes the prompt of a row, and returns how many blocks that took. */
    private int numHashed(int numTokens, long... names) {
        var row = row(numTokens, names);
        var prompt = new Prompt(prompts.of(row));
        int numHashedBefore = hasher.numHashed();

        assertThat(prompt.blockHashes(hasher)).isEqualTo(new Prompt(row.prompt()).blockHashes(new Xxh3BlockHasher(16)));
        return hasher.numHashed() - numHashedBefore;
    }

    private TraceRow row(int numTokens, long... names) {
        return TraceRow.of(++line, 0, numTokens, 1).with(r -> r.blockTokens(64).blockIds(new LongArrayList(names)));
    }
}

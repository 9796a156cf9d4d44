package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.kvcache.KvGroup.Kind;

final class KvGroupsTest {

    /** The next token of a window of 8 sees itself and 7 before it; chunks of 8 begin at 8 and 16; a state needs the last. */
    @ParameterizedTest
    @CsvSource({"FULL_ATTENTION, 0, 0", "SLIDING_WINDOW, 8, 13", "CHUNKED_LOCAL_ATTENTION, 8, 16", "MAMBA, 0, 19"})
    void tokensOutOfReach_dependOnTheKind(Kind kind, int span, int numSkipped) {
        assertThat(new KvGroup(kind, 4, span).numSkippedTokens(20)).isEqualTo(numSkipped);
    }

    /**
     * With 10 tokens in flight a window of 8 spans 17 tokens: 5 blocks of 4, and one more where it begins inside a block; a
     * chunk of 8 spans 18: 5 blocks. Everything takes 25; of states there are the one before and the one after.
     */
    @ParameterizedTest
    @CsvSource({"FULL_ATTENTION, 0, 25", "SLIDING_WINDOW, 8, 6", "CHUNKED_LOCAL_ATTENTION, 8, 5", "MAMBA, 0, 2"})
    void blocksOfALongRequest_dependOnTheKind(Kind kind, int span, int numBlocks) {
        assertThat(new KvGroup(kind, 4, span).maxBlocks(100, 10, 1_000)).isEqualTo(numBlocks);
    }

    /** Of 20 blocks a window takes at most 6, which leaves 14 of 4 tokens. */
    @Test
    void longestSequence_hasWhatWindowsLeave() {
        assertThat(groups(window(4, 8), full(4)).maxTokens(20, 1_000)).isEqualTo(14 * 4);
    }

    @Test
    void blocksOfSeveralSizes_haveAHashInCommon() {
        var groups = groups(full(12), window(8, 16));

        assertThat(groups.blockSize()).isEqualTo(24);
        assertThat(groups.hashBlockSize()).isEqualTo(4);
        assertThat(groups.reason()).isEqualTo("1 full_attention in blocks of 12, 1 sliding_window 16 in blocks of 8");
    }

    /**
     * A prompt of 22 tokens in blocks of 4. A chunk of 10 ends with a block, at 8; one that begins at 6 ends with its
     * block; the last whole block ends at 20, whatever is left of the budget; a junction at 17 ends one at 16.
     */
    @ParameterizedTest
    @CsvSource({"10, 0, 0, 8", "10, 6, 0, 2", "14, 8, 0, 12", "12, 8, 17, 8", "2, 20, 0, 2"})
    void promptIsCut_whereAStateCanBeCached(int numTokens, int from, int junction, int expected) {
        var groups = groups(full(4), new KvGroup(Kind.MAMBA, 4, 0));

        assertThat(groups.cuts(false).cut(numTokens, from, 22, 22, junction)).isEqualTo(expected);
        assertThat(groups(full(4)).cuts(false).cut(numTokens, from, 22, 22, junction))
                .isEqualTo(numTokens);
    }

    /**
     * 65,536 and 65,535 are neighbours, so their least common multiple is their product, 4,294,901,760: in an int it would be
     * -65,536. That of 65,536 and 32,767 is 2,147,418,112, which fits.
     */
    @Test
    void commonMultipleThatNoIntHolds_isRefused() {
        assertThat(groups(full(65_536), window(32_767, 8)).blockSize()).isEqualTo(2_147_418_112);
        assertThatThrownBy(() -> groups(full(65_536), window(65_535, 8), full(7)))
                .hasMessageEndingWith("too many tokens fill whole blocks of all");
    }

    @Test
    void windowWithoutTokens_isRefused() {
        assertThatThrownBy(() -> window(4, 0)).hasMessage("sliding_window: block size 4, span 0");
        assertThatThrownBy(() -> groups()).hasMessageStartingWith("groups []");
    }

    private static KvGroup full(int blockSize) {
        return new KvGroup(Kind.FULL_ATTENTION, blockSize, 0);
    }

    private static KvGroup window(int blockSize, int span) {
        return new KvGroup(Kind.SLIDING_WINDOW, blockSize, span);
    }

    private static KvGroups groups(KvGroup... groups) {
        return new KvGroups(List.of(groups), 0, 10, 10);
    }
}

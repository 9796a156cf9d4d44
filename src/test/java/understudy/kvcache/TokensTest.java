package understudy.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.TokenSource;

final class TokensTest {

    @Test
    void syntheticTokens_areAFunctionOfTheSegment() {
        var one = new SyntheticTokens(1);

        assertThat(read(one, 0, 100)).isEqualTo(read(new SyntheticTokens(1), 0, 100));
        assertThat(read(one, 0, 100)).isNotEqualTo(read(new SyntheticTokens(2), 0, 100));
        assertThat(IntStream.of(read(one, 0, 100))).allMatch(id -> id >= 0 && id < SyntheticTokens.VOCABULARY);
    }

    @Test
    void syntheticTokens_spreadOverTheVocabulary() {
        int[] ids = read(new SyntheticTokens(7), 0, 10_000);

        // 10,000 draws from 32,000 ids hit 32,000 * (1 - e^(-10,000/32,000)) = 8,590 different ones on average.
        assertThat(IntStream.of(ids).distinct().count()).isBetween(8_400L, 8_800L);
    }

    @Test
    void copy_agreesWithTokenAt() {
        var tokens = SegmentedTokens.EMPTY.append(1, 5).append(2, 1).append(3, 30);

        for (int from = 0; from < tokens.length(); from++) {
            for (int count = 0; count <= tokens.length() - from; count++) {
                assertThat(read(tokens, from, count)).isEqualTo(readOneByOne(tokens, from, count));
            }
        }
    }

    @Test
    void append_keepsWhatWasThereAndStartsEachSegmentAtItsBeginning() {
        var shorter = SegmentedTokens.EMPTY.append(1, 5);
        var longer = shorter.append(2, 3);

        assertThat(longer.length()).isEqualTo(8);
        assertThat(read(longer, 0, 5)).isEqualTo(read(shorter, 0, 5)).isEqualTo(read(new SyntheticTokens(1), 0, 5));
        assertThat(read(longer, 5, 3)).isEqualTo(read(new SyntheticTokens(2), 0, 3));
        assertThat(longer.append(3, 0)).as("nothing to append").isSameAs(longer);
    }

    @Test
    void ofBlocks_cutsTheLastOne() {
        var tokens = SegmentedTokens.ofBlocks(new long[] {4, 5, 6}, 10, 12);

        assertThat(tokens.length()).isEqualTo(12);
        assertThat(read(tokens, 10, 2)).isEqualTo(read(new SyntheticTokens(5), 0, 2));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SegmentedTokens.ofBlocks(new long[] {4, 5, 6}, 10, 31))
                .withMessageContaining("31");
    }

    @Test
    void prompt_needsAToken() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Prompt(SegmentedTokens.EMPTY));
    }

    private static int[] read(TokenSource tokens, int from, int count) {
        var into = new int[count + 1];
        tokens.copy(from, count, into, 1);
        return IntStream.of(into).skip(1).toArray();
    }

    private static int[] readOneByOne(TokenSource tokens, int from, int count) {
        return IntStream.range(from, from + count).map(tokens::tokenAt).toArray();
    }
}

package understudy.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class CommonTokensTest {
    private static final SegmentedTokens SHARED = SegmentedTokens.EMPTY.append(1, 1_000);

    @Test
    void piecesOfOneSegment_areCommon() {
        var one = SHARED.append(2, 500).append(3, 10);
        var other = SHARED.append(2, 400).append(4, 10);

        // 1,000 shared ones and 400 of segment 2; then its token 400 meets the first of segment 4.
        int expected = 1_400 + (one.tokenAt(1_400) == other.tokenAt(1_400) ? 1 : 0);
        assertThat(CommonTokens.count(one, 0, other, 0, 1_410)).isEqualTo(expected);
        assertThat(CommonTokens.count(one, 900, other, 900, 200)).isEqualTo(200);
    }

    @Test
    void idsAreComparedOneByOne_whateverTheyAreWrappedIn() {
        var ids = new int[300];
        SHARED.copy(0, 300, ids, 0);
        ids[250] ^= 1;
        var answer = new SequenceTokens(new TokenPrefix(SHARED, 100), new TokenSuffix(SHARED, 100));

        // The 100 of the prompt, then the answer from the segment's token 100 on, up to the one that was changed.
        assertThat(CommonTokens.count(new TokenIds(ids), 0, answer, 0, 300)).isEqualTo(250);
        assertThat(CommonTokens.count(answer, 0, SHARED, 0, 900)).isEqualTo(900);
    }
}

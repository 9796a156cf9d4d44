package understudy.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class Xxh3BlockHasherTest {
    private final BlockHasher hasher = new Xxh3BlockHasher(4);

    @Test
    void onlyFullBlocks_areHashed() {
        assertThat(hashes(prompt(0, 3))).isEmpty();
        assertThat(hashes(prompt(0, 4))).hasSize(1);
        assertThat(hashes(prompt(0, 15))).hasSize(3);
    }

    @Test
    void equalPrefixes_haveEqualHashesUpToTheFirstDifference() {
        long[] one = hashes(new Prompt(new TokenIds(1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9)));
        long[] other = hashes(new Prompt(new TokenIds(1, 2, 3, 4, 5, 6, 7, 0, 9, 9, 9, 9)));

        assertThat(one[0]).isEqualTo(other[0]);
        assertThat(one[1]).isNotEqualTo(other[1]);
        assertThat(one[2]).as("same tokens behind another parent").isNotEqualTo(other[2]);
    }

    @Test
    void loraAndSalt_keepEqualTokensApart() {
        var tokens = new TokenIds(1, 2, 3, 4, 5, 6, 7, 8);
        long[][] chains = {
            hashes(new Prompt(tokens)),
            hashes(new Prompt(tokens, "a", "")),
            hashes(new Prompt(tokens, "", "a")),
            hashes(new Prompt(tokens, "a", "b")),
            hashes(new Prompt(tokens, "ab", ""))
        };

        assertThat(Arrays.stream(chains).mapToLong(chain -> chain[0]).distinct())
                .hasSize(chains.length);
        assertThat(Arrays.stream(chains).mapToLong(chain -> chain[1]).distinct())
                .hasSize(chains.length);
    }

    @Test
    void chainEnd_goesOnWhereThePromptStops() {
        var tail = prompt(0, 10).chainEnd(hasher);

        // Ten tokens are two blocks; tokens 8 and 9 open the third, which two more complete.
        assertThat(tail.fork().next(new int[] {8, 9, 10, 11})).isEqualTo(hashes(prompt(0, 12))[2]);
        assertThat(tail.next(new int[] {8, 9, 10, 11})).isEqualTo(hashes(prompt(0, 12))[2]);
    }

    @Test
    void anotherHasher_isNotAnsweredFromMemory() {
        var prompt = prompt(0, 16);

        assertThat(prompt.blockHashes(hasher)).hasSize(4);
        assertThat(prompt.blockHashes(new Xxh3BlockHasher(8))).hasSize(2);
        assertThat(prompt.blockHashes(hasher)).hasSize(4);
    }

    @Test
    void blockSizeZero_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Xxh3BlockHasher(0))
                .withMessageContaining("0");
    }

    private long[] hashes(Prompt prompt) {
        return prompt.blockHashes(hasher);
    }

    private static Prompt prompt(int from, int to) {
        return new Prompt(new TokenIds(IntStream.range(from, to).toArray()));
    }
}

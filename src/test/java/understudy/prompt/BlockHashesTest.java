package understudy.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Shared beginnings are hashed once. Blocks have 4 tokens. */
final class BlockHashesTest {
    private final CountingHasher hasher = new CountingHasher(new Xxh3BlockHasher(4));

    /** 42 tokens are 10 full blocks and a half; two prompts that add 8 tokens each have 12 full blocks, 2 of them new. */
    @Test
    void prefixOfAGroup_isHashedOnce() {
        var prefix = SegmentedTokens.EMPTY.append(1, 42);
        long[] one = hashes(prefix.append(2, 8));
        assertThat(hasher.numHashed()).isEqualTo(10 + 2);

        long[] other = hashes(prefix.append(3, 8));
        assertThat(hasher.numHashed()).isEqualTo(12 + 2);

        assertThat(one).hasSize(12).startsWith(copyOf(other, 10));
        assertThat(one[10]).isNotEqualTo(other[10]);
        assertThat(one).isEqualTo(fromScratch(2));
        assertThat(other).isEqualTo(fromScratch(3));
    }

    /** A turn of 40 tokens, an answer of 20 and a text of 8: 17 blocks, of which 10 are those of the first turn. */
    @Test
    void followUpTurn_hashesWhatIsNew() {
        var first = SegmentedTokens.EMPTY.append(1, 40);
        hashes(first);
        int numHashedBefore = hasher.numHashed();

        long[] second = hashes(first.append(2, 20).append(3, 8));

        assertThat(second).hasSize(17);
        assertThat(hasher.numHashed() - numHashedBefore).isEqualTo(7);
    }

    /** A prompt of 20,000 pieces of 2 tokens that nobody has hashed so far: 10,000 blocks, each hashed once. */
    @Test
    void manyPieces_keepNoChainOfPrompts() {
        var tokens = SegmentedTokens.EMPTY;
        for (int piece = 0; piece < 20_000; piece++) {
            tokens = tokens.append(piece, 2);
        }

        assertThat(hashes(tokens)).hasSize(10_000);
        assertThat(hasher.numHashed()).isEqualTo(10_000);
    }

    /**
     * A prompt of 10 pieces of 8 tokens and a text of 3, then one that keeps 5 of its pieces and adds 2 and a text of 2: of
     * its 14 blocks the first 10 are known. A prompt that keeps them all hashes its 4 new blocks alone.
     */
    @Test
    void branch_hashesWhatIsNewBehindWhatItKeeps() {
        var first = SegmentedTokens.EMPTY.branch(0, new long[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 8, 83);
        long[] hashes = hashes(first);
        assertThat(hashes).hasSize(20);

        int numHashedBefore = hasher.numHashed();
        long[] cut = hashes(first.branch(5, new long[] {21, 22, 23}, 8, 58));
        assertThat(hasher.numHashed() - numHashedBefore).isEqualTo(4);
        assertThat(cut)
                .hasSize(14)
                .startsWith(copyOf(hashes, 10))
                .isEqualTo(hashes(SegmentedTokens.ofBlocks(new long[] {1, 2, 3, 4, 5, 21, 22, 23}, 8, 58)));

        numHashedBefore = hasher.numHashed();
        assertThat(hashes(first.branch(10, new long[] {31, 32}, 8, 96)))
                .hasSize(24)
                .startsWith(hashes);
        assertThat(hasher.numHashed() - numHashedBefore).isEqualTo(4);
    }

    /** The hashes that are kept are those of one salt; another one begins anew, and neither takes the other's. */
    @Test
    void anotherSalt_hasHashesOfItsOwn() {
        var prefix = SegmentedTokens.EMPTY.append(1, 40);
        var tokens = prefix.append(2, 8);
        long[] plain = hashes(tokens);

        long[] salted = new Prompt(tokens, "", "salt").blockHashes(hasher);

        assertThat(salted).hasSize(12).doesNotContain(plain);
        assertThat(hashes(prefix.append(2, 8))).isEqualTo(plain);
    }

    private long[] hashes(SegmentedTokens tokens) {
        return new Prompt(tokens).blockHashes(hasher);
    }

    /** The same prompt, of which nothing is known. */
    private static long[] fromScratch(long segment) {
        var tokens = SegmentedTokens.EMPTY.append(1, 42).append(segment, 8);
        int[] ids = new int[tokens.length()];
        tokens.copy(0, ids.length, ids, 0);
        return new Prompt(new TokenIds(ids)).blockHashes(new Xxh3BlockHasher(4));
    }

    private static long[] copyOf(long[] hashes, int length) {
        return Arrays.copyOf(hashes, length);
    }
}

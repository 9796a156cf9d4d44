package understudy.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.prompt.CborBlockHasher.Algorithm;

/** What the chains of all hashers keep to. */
final class HashChainContractTest {
    private static final TokenSource TOKENS = new SyntheticTokens(5);
    private static final Prompt PROMPT = new Prompt(new TokenIds(1));

    /** One for all chains. */
    private final BlockRoom room = new BlockRoom();

    static Stream<BlockHasher> hashers() {
        return Stream.of(
                new Xxh3BlockHasher(1),
                new Xxh3BlockHasher(3),
                new Xxh3BlockHasher(16),
                new CborBlockHasher(Algorithm.SHA256_CBOR, 3, "0"),
                new CborBlockHasher(Algorithm.XXHASH_CBOR, 16, "0"));
    }

    @ParameterizedTest
    @MethodSource("hashers")
    void blockIsTheSame_fromASourceAndAsNumbers(BlockHasher hasher) {
        int blockSize = hasher.blockSize();
        var one = hasher.start(PROMPT);
        var other = hasher.start(PROMPT);

        for (int from : new int[] {0, 2, 7, 64}) {
            var block = new int[blockSize];
            Arrays.setAll(block, i -> TOKENS.tokenAt(from + i));
            assertThat(one.next(TOKENS, from, room)).isEqualTo(other.next(block));
        }
    }

    /** 1,030 blocks, more than any chain takes at once, and then one. */
    @ParameterizedTest
    @MethodSource("hashers")
    void blocksAreTheSame_togetherAndOneByOne(BlockHasher hasher) {
        int blockSize = hasher.blockSize();
        var together = hasher.start(PROMPT);
        var oneByOne = hasher.start(PROMPT);
        var hashes = new long[1_030];

        together.nextAll(TOKENS, 3, blockSize, hashes, room);

        for (int i = 0; i < hashes.length; i++) {
            assertThat(hashes[i]).isEqualTo(oneByOne.next(TOKENS, 3 + i * blockSize, room));
        }
        assertThat(together.next(TOKENS, 1, room)).isEqualTo(oneByOne.next(TOKENS, 1, room));
    }

    @ParameterizedTest
    @MethodSource("hashers")
    void chainsInTurn_doNotDisturbEachOther(BlockHasher hasher) {
        var alone = hasher.start(PROMPT);
        long first = alone.next(TOKENS, 0, room);
        long second = alone.next(TOKENS, 100, room);

        var chain = hasher.start(PROMPT);
        assertThat(chain.next(TOKENS, 0, room)).isEqualTo(first);
        new Xxh3BlockHasher(5).start(PROMPT).next(new SyntheticTokens(6), 1, room);
        var fork = chain.fork();
        assertThat(fork.next(TOKENS, 100, room)).isEqualTo(second);
        fork.next(TOKENS, 200, room);
        assertThat(chain.next(TOKENS, 100, room)).isEqualTo(second);
    }

    @ParameterizedTest
    @MethodSource("hashers")
    void everyTokenCounts(BlockHasher hasher) {
        var block = new int[hasher.blockSize()];
        long hash = hasher.start(PROMPT).next(block);

        for (int i = 0; i < block.length; i++) {
            var changed = block.clone();
            changed[i] = 1;
            assertThat(hasher.start(PROMPT).next(changed)).as("token %d", i).isNotEqualTo(hash);
        }
    }
}

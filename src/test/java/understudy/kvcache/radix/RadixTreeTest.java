package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

final class RadixTreeTest {
    private static final TokenIds A = tokens(10);
    private static final TokenIds B = tokens(20);
    private static final TokenIds C = tokens(30);

    private static TokenIds tokens(int first) {
        return new TokenIds(IntStream.range(first, first + 4).toArray());
    }

    /**
     * A, B, C are inserted in this order, with priorities 2, 1, 2; then A is matched, and B inserted once more, so that it
     * has 2 hits and was used last. C was used least recently; A has 1 hit, was used after C, and is the oldest.
     */
    @ParameterizedTest
    @CsvSource({"LRU,C", "LFU,C", "SLRU,C", "PRIORITY,B", "FIFO,A", "FILO,C", "MRU,B"})
    void eviction_takesTheFirstOfItsOrder(RadixEvictionPolicy policy, String evicted) {
        var pool = new PagePool(2, 1, 100, false);
        var tree = new RadixTree(2, pool, policy, false);
        tree.insert(sequence(tree, pool, A, 2), 4, false);
        tree.insert(sequence(tree, pool, B, 1), 4, false);
        tree.insert(sequence(tree, pool, C, 2), 4, false);
        tree.match(A, "", 4);
        tree.insert(sequence(tree, pool, B, 1), 4, false);

        tree.evict(1);

        // Whole nodes of 4 tokens go, though 1 would do.
        assertThat(tree.evictable()).isEqualTo(8);
        assertThat(found(tree, A)).isEqualTo(evicted.equals("A") ? 0 : 4);
        assertThat(found(tree, B)).isEqualTo(evicted.equals("B") ? 0 : 4);
        assertThat(found(tree, C)).isEqualTo(evicted.equals("C") ? 0 : 4);
    }

    private static RadixSequence sequence(RadixTree tree, PagePool pool, TokenIds tokens, long priority) {
        var sequence = new RadixSequence(new RadixLookup(0, new Prompt(tokens), tokens, "", priority), tree.root);
        sequence.takePages(pool, 2);
        return sequence;
    }

    private static int found(RadixTree tree, TokenIds tokens) {
        tree.match(tokens, "", tokens.length());
        return tree.matchedLength;
    }
}

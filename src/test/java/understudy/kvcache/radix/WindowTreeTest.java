package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

final class WindowTreeTest {

    /**
     * A window of 2 tokens splits 8 tokens into 6 and 2; a match of 3 splits the 6 once more, after 4 others have come. All
     * three parts are as old as the whole: of 8 + 4 tokens first 2 go, then 3, then the 3 above them, and not the others.
     */
    @Test
    void upperPartOfASplitNode_isAsOldAsTheNode() {
        var pool = new WindowPool(1, 20, 20);
        var tree = new WindowTree(1, pool, RadixEvictionPolicy.FIFO, false, 2);
        tree.insert(sequence(tree, pool, tokens(0, 8)), 8, false);
        tree.insert(sequence(tree, pool, tokens(100, 4)), 4, false);
        tree.match(tokens(0, 8), "", 3);
        assertThat(tree.evictable()).isEqualTo(12);

        tree.evict(1, 0);
        assertThat(tree.evictable()).isEqualTo(10);

        tree.evict(1, 0);
        assertThat(tree.evictable()).isEqualTo(7);

        tree.evict(1, 0);
        assertThat(tree.evictable()).isEqualTo(4);
    }

    private static TokenIds tokens(int first, int count) {
        return new TokenIds(IntStream.range(first, first + count).toArray());
    }

    private static RadixSequence sequence(WindowTree tree, WindowPool pool, TokenIds tokens) {
        var sequence = new RadixSequence(new RadixLookup(0, new Prompt(tokens), tokens, "", 0), tree.root);
        sequence.takePages(pool, tokens.length());
        return sequence;
    }
}

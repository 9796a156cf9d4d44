package understudy.kvcache.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class BlockHeapTest {

    @Test
    void agreesWithASortedSet() {
        // Ranks are a permutation of 0 to 99: none is that of two blocks.
        var random = new Random(4);
        int[] ranks = random.ints(0, 100).distinct().limit(100).toArray();
        var heap = new BlockHeap((one, other) -> Integer.compare(ranks[one], ranks[other]));
        var sorted = new TreeSet<Integer>(Comparator.comparingInt(block -> ranks[block]));
        for (int i = 0; i < 10_000; i++) {
            int block = random.nextInt(100);
            if (sorted.add(block)) {
                heap.add(block);
            } else if (random.nextBoolean()) {
                heap.remove(block);
                sorted.remove(block);
            } else {
                assertThat(heap.poll()).isEqualTo(sorted.pollFirst());
            }
            assertThat(heap.order())
                    .containsExactly(sorted.stream().mapToInt(each -> each).toArray());
        }
    }
}

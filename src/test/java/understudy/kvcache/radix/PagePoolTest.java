package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PagePoolTest {

    /** 4 pages; 1 to 3 are taken, then 3 and 1 are freed and wait. The first list has 4 alone, too few for 3 pages. */
    @Test
    void pagesThatWaitToBeSorted_canBeTakenTogether() {
        var pool = new PagePool(2, 1, 4, true);
        pool.takeAll(3);
        pool.free(new int[] {3, 1}, 0, 2);

        assertThat(pool.takeAll(4)).isNull();
        assertThat(pool.takeAll(3)).containsExactly(1, 3, 4);
    }

    /**
     * 6 pages; 1 to 3 are taken, and 2, 5 and 7 are freed, of which 5 was not taken and 7 does not exist. The list has 2, 5
     * and 7 in front of or behind 4, 5 and 6: two are bad, 7 and the 5 that is seen second.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void pagesThatAreFreeTwiceOrDoNotExist_areCounted(int pageSize) {
        var pool = new PagePool(pageSize, 1, 6, false);
        pool.takeAll(3);
        var seen = new BitSet();
        assertThat(pool.addTo(seen, 6)).isZero();
        assertThat(seen.stream()).containsExactly(4, 5, 6);

        pool.free(new int[] {2, 5, 7}, 0, 3);

        seen.clear();
        assertThat(pool.addTo(seen, 6)).isEqualTo(2);
        assertThat(seen.stream()).containsExactly(2, 4, 5, 6, 7);
    }

    /** Pages of one token go behind, larger ones in front; both in a list that has them all and in one that has those used. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void order_isThatOfAListOfAllPages(int pageSize) {
        var pool = new PagePool(pageSize, 1, 60, false);
        var free = IntStream.rangeClosed(1, 60).boxed().collect(Collectors.toCollection(ArrayList::new));
        var held = new ArrayList<Integer>();
        var random = new Random(5);
        for (int i = 0; i < 2_000; i++) {
            int count = random.nextInt(6);
            if (random.nextBoolean() && count <= free.size()) {
                var taken = pool.takeAll(count);
                assertThat(taken).containsExactly(toArray(free.subList(0, count)));
                held.addAll(free.subList(0, count));
                free.subList(0, count).clear();
            } else {
                Collections.shuffle(held, random);
                var freed = new ArrayList<>(held.subList(0, Math.min(count, held.size())));
                held.subList(0, freed.size()).clear();
                pool.free(toArray(freed), 0, freed.size());
                if (pageSize == 1) {
                    free.addAll(freed);
                } else {
                    Collections.sort(freed);
                    free.addAll(0, freed);
                }
            }
            assertThat(pool.order().toArray()).containsExactly(toArray(free));
            assertThat(pool.size()).isEqualTo(free.size() * pageSize);
        }
    }

    private static int[] toArray(List<Integer> pages) {
        return pages.stream().mapToInt(Integer::intValue).toArray();
    }

    /** A hundred pages at a time, each taken again after all others: memory is for a thousand of a million. */
    @Test
    void memory_isTakenForPagesThatWereUsed() {
        var pool = new PagePool(1, 1, 1_000_000, false);
        assertThat(pool.order().capacity()).isZero();

        for (int i = 0; i < 10; i++) {
            pool.free(Objects.requireNonNull(pool.takeAll(100)), 0, 100);
        }

        assertThat(pool.order().capacity()).isBetween(1_000, 2_048);
        assertThat(pool.size()).isEqualTo(1_000_000);
    }
}

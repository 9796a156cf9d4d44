package understudy.kvcache.radix;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

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
}

package understudy.kvcache.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The eviction order of the page for contributors. */
final class MruOrderTest {
    @Test
    void blockReleasedLast_goesFirst() {
        var order = new MruOrder();
        for (int block : new int[] {1, 2, 3, 4}) {
            order.add(block);
        }
        // A request hits 4 and keeps it; another one hits 1 and releases it.
        order.remove(4);
        order.remove(1);
        order.add(1);

        assertThat(order.order()).containsExactly(1, 3, 2);
        assertThat(order.evict()).isEqualTo(1);
        assertThat(order.size()).isEqualTo(2);
    }
}

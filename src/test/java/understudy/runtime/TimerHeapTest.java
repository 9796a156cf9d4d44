package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class TimerHeapTest {
    private static final EventLoop NO_LOOP = new EventLoop("never started");

    private final TimerHeap heap = new TimerHeap();
    private long sequence;

    @Test
    void poll_followsTimeThenCreation() {
        var random = new Random(1);
        var expected = new ArrayList<VirtualTimer>();
        for (int i = 0; i < 1_000; i++) {
            expected.add(add(random.nextInt(50)));
        }
        expected.sort(Comparator.<VirtualTimer>comparingLong(t -> t.dueNanos).thenComparingLong(t -> t.sequence));

        assertThat(drain()).isEqualTo(expected);
    }

    @Test
    void cancelledTimers_areNeverSeen() {
        var first = add(1);
        var second = add(2);
        var third = add(3);
        first.cancel();
        third.cancel();

        assertThat(drain()).containsExactly(second);
    }

    @Test
    void compact_dropsCancelledTimersAndKeepsTheOrder() {
        var kept = new ArrayList<VirtualTimer>();
        for (int i = 0; i < 100; i++) {
            var timer = add(100 - i);
            if (i % 3 == 0) {
                timer.cancel();
            } else {
                kept.add(0, timer);
            }
        }

        heap.compact();

        // Of 0 to 99, 34 are multiples of 3.
        assertThat(heap.size()).isEqualTo(66);
        assertThat(drain()).isEqualTo(kept);
    }

    private VirtualTimer add(long dueNanos) {
        var timer = new VirtualTimer(NO_LOOP, () -> {});
        timer.dueNanos = dueNanos;
        timer.sequence = sequence++;
        heap.add(timer);
        return timer;
    }

    private List<VirtualTimer> drain() {
        var order = new ArrayList<VirtualTimer>();
        for (var timer = heap.peek(); timer != null; timer = heap.peek()) {
            order.add(timer);
            heap.removeTop();
        }
        return order;
    }
}

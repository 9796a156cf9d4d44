package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** A turn in which every sequence decodes makes a few arrays as long as their number, and no object for each. */
final class DecodeTurnAllocationTest {
    private static final int SEQUENCES = 2_000;
    private static final int TURNS = 8;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void decodeTurn_allocatesNoObjectPerSequence() {
        assumeTrue(threads.isThreadAllocatedMemorySupported(), "skipped: this JVM does not count allocations");
        var fixture = new SglangFixture(SchedulePolicy.FCFS, SEQUENCES, 200_000, false, false);
        for (int i = 0; i < SEQUENCES; i++) {
            fixture.add("r" + i, 100 * i, 8, 40, 0, false);
        }
        // Prefill, and decodes until the tables of 16 pages have their last size for the turns that follow.
        for (int i = 0; i < 10; i++) {
            fixture.turn();
        }
        assertThat(fixture.engine.running()).hasSize(SEQUENCES);

        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < TURNS; i++) {
            fixture.turn();
        }
        long perTurn = (threads.getCurrentThreadAllocatedBytes() - before) / TURNS;

        // Handles and the batch's list: 4 bytes each per sequence, and as much again for a copy; the smallest object
        // has 16.
        assertThat(perTurn).isLessThan(16L * SEQUENCES);
    }
}

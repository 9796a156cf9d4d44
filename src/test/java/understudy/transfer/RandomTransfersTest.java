package understudy.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatList;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random schedules against the definition, to the nanosecond and to the byte. */
final class RandomTransfersTest {
    private static final int NUM_PORTS = 6;
    private static final long GB = 1_000_000_000;

    private final SharedBandwidth bandwidth = new SharedBandwidth();
    private final NaiveBandwidth naive = new NaiveBandwidth();
    private final List<Long> active = new ArrayList<>();
    private long nowNanos;
    private long nextId;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void schedule_isThatOfTheDefinition(long seed) {
        var random = new Random(seed);
        for (var group : List.of(
                PortGroup.of(3 * GB, 7 * GB, 50 * GB), new PortGroup(LongList.of(5 * GB, 5 * GB, GB + 7), 8 * GB))) {
            bandwidth.add(group);
            naive.add(group);
        }

        for (int i = 0; i < 500; i++) {
            act(random);
            pass(random.nextInt(400));
        }
        for (int port = 0; port < NUM_PORTS; port++) {
            setFactor(port, 1);
        }
        pass(1_000_000);

        assertThat(bandwidth.numActive()).isZero();
        assertThat(bandwidth.nextEndNanos()).isEqualTo(Long.MAX_VALUE);
    }

    /** 1,000 transfers of 1,000,000 bytes each: 64 ports cross 32 each on average, and nothing is lost. */
    @Test
    void thousandTransfers_allEnd_andMoveTheirBytes() {
        var random = new Random(1);
        bandwidth.add(PortGroup.of(random.longs(64, 10 * GB, 50 * GB).toArray()));
        long[] expected = new long[64];

        for (int id = 0; id < 1_000; id++) {
            var crossed = IntList.of(random.nextInt(32), 32 + random.nextInt(32));
            crossed.forEach(port -> expected[port] += 1_000_000);
            bandwidth.start(id, crossed, 1_000_000, id);
        }
        assertThat(bandwidth.numActive()).isGreaterThan(900);

        assertThatList(bandwidth.endedBy(GB)).hasSize(1_000).doesNotHaveDuplicates();
        for (int port = 0; port < 64; port++) {
            assertThat(bandwidth.bytesMoved(port)).isEqualTo(expected[port]);
        }
    }

    private void act(Random random) {
        int drawn = random.nextInt(10);
        if (drawn < 6) {
            start(crossed(random), random.nextInt(20) == 0 ? 0 : random.nextInt(3_000));
        } else if (drawn < 8) {
            double[] factors = {0, 0.3, 0.5, 1, 1};
            setFactor(random.nextInt(NUM_PORTS), factors[random.nextInt(factors.length)]);
        } else if (!active.isEmpty()) {
            long id = active.remove(random.nextInt(active.size()));
            assertThat(bandwidth.cancel(id, nowNanos)).isEqualTo(naive.cancel(id));
        }
    }

    private static IntList crossed(Random random) {
        var crossed = new IntArrayList();
        for (int i = random.nextInt(3); i >= 0; i--) {
            crossed.add(random.nextInt(NUM_PORTS));
        }
        return crossed;
    }

    private void start(IntList crossed, long bytes) {
        bandwidth.start(nextId, crossed, bytes, nowNanos);
        naive.start(nextId, crossed, bytes);
        active.add(nextId++);
        pass(0);
    }

    private void setFactor(int port, double factor) {
        bandwidth.setFactor(port, factor, nowNanos);
        naive.setFactor(port, factor);
    }

    private void pass(long nanos) {
        nowNanos += nanos;
        assertThat(bandwidth.nextEndNanos()).isEqualTo(naive.nextEndNanos());
        var ended = bandwidth.endedBy(nowNanos);
        assertThatList(ended).isEqualTo(naive.endedBy(nowNanos));
        active.removeAll(ended);
        for (int port = 0; port < NUM_PORTS; port++) {
            assertThat(bandwidth.bytesMoved(port)).isEqualTo(naive.bytesMoved(port));
        }
    }
}

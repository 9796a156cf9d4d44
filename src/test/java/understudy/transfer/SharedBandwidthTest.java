package understudy.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatList;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import org.junit.jupiter.api.Test;

/** How transfers share ports; a gigabyte per second is a byte per nanosecond. */
final class SharedBandwidthTest {
    private static final long GB = 1_000_000_000;

    private final SharedBandwidth bandwidth = new SharedBandwidth();

    @Test
    void oneTransfer_takesItsBytesOverTheBandwidth() {
        bandwidth.add(PortGroup.of(50 * GB));

        bandwidth.start(1, IntList.of(0), 5_000, 7);

        // 5,000 bytes at 50 bytes per ns are 100 ns.
        assertThat(bandwidth.nextEndNanos()).isEqualTo(107);
        assertThat(bandwidth.usage(0)).isEqualTo(1);
        assertThatList(bandwidth.endedBy(106)).isEmpty();
        assertThat(bandwidth.bytesMoved(0)).isEqualTo(99 * 50);
        assertThatList(bandwidth.endedBy(107)).isEqualTo(LongList.of(1));
        assertThat(bandwidth.bytesMoved(0)).isEqualTo(5_000);
        assertThat(bandwidth.usage(0)).isZero();
        assertThat(bandwidth.nextEndNanos()).isEqualTo(Long.MAX_VALUE);
    }

    /** 10 bytes at 3 bytes per ns are 3 1/3 ns. */
    @Test
    void end_isRoundedUpToAWholeNanosecond() {
        bandwidth.add(PortGroup.of(3 * GB));

        bandwidth.start(1, IntList.of(0), 10, 0);

        assertThat(bandwidth.nextEndNanos()).isEqualTo(4);
    }

    /**
     * The first one is alone until 100 ns: 1,000 of its 3,000 bytes. Then each has 5 per ns, until the second one has its
     * 1,000 bytes at 300 ns. The 1,000 bytes that are left of the first one take 100 ns more.
     */
    @Test
    void twoTransfers_haveHalfEach_andTheLastOneHasTheRest() {
        bandwidth.add(PortGroup.of(10 * GB));

        bandwidth.start(1, IntList.of(0), 3_000, 0);
        bandwidth.start(2, IntList.of(0), 1_000, 100);

        assertThatList(ends()).isEqualTo(LongList.of(300, 2, 400, 1));
    }

    /**
     * Port 0 has 2 per ns for transfers 1 and 2, port 1 has 10 for 2 and 3: 2 has no more than 1 because of port 0, which
     * leaves 9 to 3. So 3 ends with its 900 bytes at 100 ns, 1 and 2 with their 150 bytes at 150 ns.
     */
    @Test
    void rates_areMaxMinFair_overUnequalPorts() {
        bandwidth.add(PortGroup.of(2 * GB, 10 * GB));

        bandwidth.start(1, IntList.of(0), 150, 0);
        bandwidth.start(2, IntList.of(1, 0), 150, 0);
        bandwidth.start(3, IntList.of(1), 900, 0);

        assertThat(bandwidth.usage(1)).isEqualTo(1);
        assertThatList(ends()).isEqualTo(LongList.of(100, 3, 150, 1, 150, 2));
    }

    /** 50 per ns each way, 80 both: 50 for one way alone, then 40 each; 2,000 + 4,000 bytes and 4,000 bytes. */
    @Test
    void portsOfAGroup_shareWhatTheyHaveTogether() {
        bandwidth.add(new PortGroup(LongList.of(50 * GB, 50 * GB), 80 * GB));

        bandwidth.start(1, IntList.of(0), 6_000, 0);
        bandwidth.start(2, IntList.of(1), 4_000, 40);

        assertThat(bandwidth.usage(0)).isCloseTo(0.8, within(1e-9));
        assertThatList(ends()).isEqualTo(LongList.of(140, 1, 140, 2));
    }

    /** One that crosses a port twice moves each byte twice: 10 per ns are 5 for it, or 10/3 if it has company. */
    @Test
    void portThatIsCrossedTwice_countsTwice() {
        bandwidth.add(PortGroup.of(10 * GB));

        bandwidth.start(1, IntList.of(0, 0), 500, 0);

        assertThatList(ends()).isEqualTo(LongList.of(100, 1));
        assertThat(bandwidth.bytesMoved(0)).isEqualTo(1_000);
    }

    /** At 10 per ns until 50 ns, at 5 until 70, then not at all until 1,000: of 1,000 bytes 400 are left for 40 ns. */
    @Test
    void transfer_slowsDownStandsStillAndGoesOnWithItsPort() {
        bandwidth.add(PortGroup.of(10 * GB));
        bandwidth.start(1, IntList.of(0), 1_000, 0);

        bandwidth.setFactor(0, 0.5, 50);
        assertThat(bandwidth.usage(0)).isEqualTo(0.5);
        bandwidth.setFactor(0, 0, 70);
        assertThat(bandwidth.nextEndNanos()).isEqualTo(Long.MAX_VALUE);
        bandwidth.start(2, IntList.of(0), 1_000, 80);
        assertThat(bandwidth.stillSinceNanos()).isEqualTo(70);
        assertThatList(bandwidth.stillSince(79)).isEqualTo(LongList.of(1));
        assertThatList(bandwidth.stillSince(80)).isEqualTo(LongList.of(1, 2));
        assertThat(bandwidth.cancel(2, 90)).isZero();
        bandwidth.setFactor(0, 1, 1_000);

        assertThat(bandwidth.stillSinceNanos()).isEqualTo(Long.MAX_VALUE);
        assertThatList(ends()).isEqualTo(LongList.of(1_040, 1));
    }

    /** Half of the bandwidth for 100 ns are 500 bytes; the other one then has 1,500 left, at 10 per ns. */
    @Test
    void cancelledTransfer_leavesItsShareToTheOthers() {
        bandwidth.add(PortGroup.of(10 * GB));
        bandwidth.start(1, IntList.of(0), 2_000, 0);
        bandwidth.start(2, IntList.of(0), 2_000, 0);

        assertThat(bandwidth.cancel(1, 100)).isEqualTo(500);
        assertThat(bandwidth.cancel(1, 100)).isZero();

        assertThatList(ends()).isEqualTo(LongList.of(250, 2));
        assertThat(bandwidth.bytesMoved(0)).isEqualTo(2_500);
    }

    /**
     * The first one has 1 byte in the first ns and half a byte in the second. The 999,999.5 bytes that are left then, at
     * 333,333,333 per second, take 2,999,998.503 ns.
     */
    @Test
    void restsOfBytes_addUp_andNoBytesTakeNoTime() {
        bandwidth.add(PortGroup.of(GB));
        bandwidth.start(9, IntList.of(0), 0, 0);
        assertThatList(bandwidth.endedBy(0)).isEqualTo(LongList.of(9));

        for (int i = 0; i < 3; i++) {
            bandwidth.start(i, IntList.of(0), 1_000_001, i);
        }

        assertThat(bandwidth.nextEndNanos()).isEqualTo(3_000_001);
        assertThatList(bandwidth.endedBy(GB)).isEqualTo(LongList.of(0, 1, 2));
        assertThat(bandwidth.bytesMoved(0)).isEqualTo(3_000_003);
    }

    /** A petabyte at a byte per second takes 30 million years. At a petabyte per second it takes one second. */
    @Test
    void largestFigures_fit() {
        bandwidth.add(PortGroup.of(PortGroup.MAX_BYTES_PER_SECOND, 1));

        bandwidth.start(1, IntList.of(0), 1_000_000_000_000_000L, 0);
        bandwidth.start(2, IntList.of(1), 1_000_000_000_000_000L, 0);

        assertThatList(bandwidth.endedBy(2 * GB)).isEqualTo(LongList.of(1));
        assertThat(bandwidth.nextEndNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(bandwidth.bytesMoved(1)).isEqualTo(2);
    }

    @Test
    void equalEnds_areInTheOrderOfIds() {
        bandwidth.add(PortGroup.of(GB, GB));

        for (int id : new int[] {3, 1, 2, 0}) {
            bandwidth.start(id, IntList.of(id % 2), 100, 0);
        }

        assertThatList(bandwidth.endedBy(1_000)).isEqualTo(LongList.of(0, 1, 2, 3));
    }

    @Test
    void misuse_isRefused() {
        bandwidth.add(PortGroup.of(GB));
        bandwidth.start(1, IntList.of(0), 100, 50);

        assertThatThrownBy(() -> bandwidth.start(1, IntList.of(0), 100, 50)).hasMessageContaining("transfer 1");
        assertThatThrownBy(() -> bandwidth.start(2, IntList.of(), 100, 50)).hasMessageContaining("transfer 2");
        assertThatThrownBy(() -> bandwidth.endedBy(49)).hasMessageContaining("time 49 after 50");
        assertThatThrownBy(() -> PortGroup.of(0)).hasMessageContaining("bytes per second: 0");
    }

    /** Returns each time at which a transfer ends, and the transfer. */
    private LongList ends() {
        var ends = new LongArrayList();
        while (bandwidth.numActive() > 0) {
            long atNanos = bandwidth.nextEndNanos();
            bandwidth.endedBy(atNanos).forEach(id -> {
                ends.add(atNanos);
                ends.add(id);
            });
        }
        return ends;
    }
}

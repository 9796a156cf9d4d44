package understudy.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.replay.cache.S3FifoSizes;

/** What may be replayed, and what is said about the rest. */
final class ReplaySettingsTest {

    @Test
    void policies_haveTheNamesOfTheCommandLine() {
        assertThat(ReplayPolicy.values())
                .extracting(ReplayPolicy::toString)
                .containsExactlyInAnyOrder(
                        "lru",
                        "lfu",
                        "lfu-fifo",
                        "fifo",
                        "s3fifo",
                        "arc",
                        "lru-longest-prefix",
                        "belady",
                        "belady-bypass",
                        "infinite");
        assertThat(ReplayPolicy.of("LRU-Longest-Prefix")).isEqualTo(ReplayPolicy.LRU_LONGEST_PREFIX);
        assertThatThrownBy(() -> ReplayPolicy.of("mru"))
                .hasMessage("policy is mru, must be one of lru, lfu, lfu-fifo, fifo, s3fifo, arc, lru-longest-prefix, "
                        + "belady, belady-bypass, infinite");
    }

    /** Halves go to the even number: 1.5 to 2, 2.5 to 2, 3.5 to 4; 409.6 is nearest to 410. */
    @ParameterizedTest
    @CsvSource({"15, 2", "25, 2", "35, 4", "4096, 410", "6, 1"})
    void s3FifosSmallQueue_isRoundedToEven(int capacity, int small) {
        assertThat(S3FifoSizes.of(capacity, 0.1)).isEqualTo(new S3FifoSizes(small, capacity - small));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // 0.5 is rounded to the even 0; 1.8 to 2.
                "5 | 0.1 | s3fifo is not defined for a capacity of 5: a small ratio of 0.1 leaves 0 for the small queue "
                        + "and 5 for the main queue, both need at least 1 block",
                "2 | 0.9 | s3fifo is not defined for a capacity of 2: a small ratio of 0.9 leaves 2 for the small queue "
                        + "and 0 for the main queue, both need at least 1 block",
                "0 | 0.1 | capacity is 0, must be at least 1 block",
                "9 | 0.0 | small ratio is 0.0, must be between 0 and 1",
                "9 | 1.0 | small ratio is 1.0, must be between 0 and 1",
                "9 | NaN | small ratio is NaN, must be between 0 and 1"
            })
    void undefinedCapacities_areRefusedWithTheReason(int capacity, double smallRatio, String reason) {
        assertThatThrownBy(() -> new ReplaySettings(ReplayPolicy.S3FIFO, capacity, 512, smallRatio, 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(reason);
    }

    @Test
    void otherSettings_areRefusedWithTheReason() {
        assertThatThrownBy(() -> ReplaySettings.of(ReplayPolicy.LRU, 10, 0))
                .hasMessage("block size is 0, must be at least 1 token");
        assertThatThrownBy(() -> new ReplaySettings(ReplayPolicy.LRU, 10, 1, 0.1, -1))
                .hasMessage("max freq is -1, must be at least 0");
    }

    @Test
    void onlyBeladysPolicies_needTheFuture() {
        assertThat(ReplayPolicy.values())
                .filteredOn(ReplayPolicy::needsFuture)
                .containsExactly(ReplayPolicy.BELADY, ReplayPolicy.BELADY_BYPASS);
        assertThatThrownBy(() -> Replayer.of(ReplaySettings.of(ReplayPolicy.BELADY, 10, 1), false))
                .hasMessage("belady needs to know the next use of every block");
    }

    @Test
    void traceThatIsLongerThanItsFuture_isRefused() {
        var trace = Traces.of(new int[][] {{1, 2}, {1, 2}}, 1, 1);
        var replayer =
                Replayer.of(ReplaySettings.of(ReplayPolicy.BELADY, 10, 1), false, NextUse.of(trace.subList(0, 1)));
        replayer.accept(trace.get(0));

        assertThatThrownBy(() -> replayer.accept(trace.get(1)))
                .hasMessage("the trace has more than the 2 accesses whose next uses are known");
    }

    @Test
    void idsThatAreNotDense_areRefusedWhereTheyCount() {
        var chunk = new TraceChunk(1, new int[] {0, 2}, new int[] {2}, new int[] {2}, new long[1]);
        var replayer = Replayer.of(ReplaySettings.of(ReplayPolicy.INFINITE, 1, 1), false);

        assertThatThrownBy(() -> replayer.accept(chunk)).hasMessage("block 2 appears before block 1");
    }

    @Test
    void traceThatFitsNoArray_isRefused() {
        // 1,100 times a million accesses are more than 2^30 - 8.
        var million = new TraceChunk(1, new int[1_000_000], new int[] {1_000_000}, new int[] {1_000_000}, new long[1]);

        assertThatThrownBy(() -> NextUse.of(Collections.nCopies(1_100, million)))
                .hasMessage("a trace may have at most 1073741816 block accesses and requests");
    }

    @Test
    void nextUses_areCountedOverAllChunks() {
        // Accesses 0 to 5 are A B A | C B A.
        var nextUse = NextUse.of(Traces.of(new int[][] {{1, 2, 1}, {3, 2, 1}}, 1, 1));

        assertThat(List.of(0, 1, 2, 3, 4, 5))
                .extracting(nextUse::after)
                .containsExactly(2, 4, 5, NextUse.NEVER, NextUse.NEVER, NextUse.NEVER);
    }
}

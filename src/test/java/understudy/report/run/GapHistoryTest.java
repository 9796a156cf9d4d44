package understudy.report.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class GapHistoryTest {
    private static final long MILLI = 1_000_000;

    private final GapHistory gaps = new GapHistory();

    @Test
    void middle_isWithinTwoPercentOfEachGap() {
        for (long nanos = 1; nanos < 1L << 40; nanos += nanos / 7 + 1) {
            assertThat(GapHistory.middleOf(GapHistory.sizeOf(nanos))).isCloseTo((double) nanos, within(0.016 * nanos));
        }
    }

    @Test
    void sizes_followEachOther() {
        // 32 sizes between two powers of two, from 32 on, and one for each number below.
        assertThat(GapHistory.sizeOf(31)).isEqualTo(31);
        assertThat(GapHistory.sizeOf(32)).isEqualTo(32);
        assertThat(GapHistory.sizeOf(63)).isEqualTo(63);
        assertThat(GapHistory.sizeOf(64)).isEqualTo(64);
        assertThat(GapHistory.sizeOf(65)).isEqualTo(64);
        assertThat(GapHistory.sizeOf(128)).isEqualTo(96);
    }

    /** Nine gaps of 10 ns and one of 20: half are at most 10, 95 % are at most 20. In the second interval is none. */
    @Test
    void percentiles_areOfEachInterval() {
        gaps.add(MILLI, 10, 9);
        gaps.add(MILLI, 20, 1);
        gaps.add(3 * MILLI, 30, 1);

        assertThat(gaps.percentiles(50)).containsExactly(10, Double.NaN, 30);
        assertThat(gaps.percentiles(95)).containsExactly(20, Double.NaN, 30);
        assertThat(gaps.seconds()).containsExactly(0.0005, 0.0015, 0.0025);
    }

    /** 120 ms are as many intervals; with the next one they are two milliseconds long. */
    @Test
    void tooManyIntervals_becomeHalfAsMany() {
        gaps.add(MILLI, 10, 1);
        gaps.add(2 * MILLI, 20, 3);
        gaps.add(121 * MILLI, 30, 1);

        assertThat(gaps.percentiles(50)).hasSize(61).startsWith(20).endsWith(30);
    }
}

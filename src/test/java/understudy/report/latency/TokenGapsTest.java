package understudy.report.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

final class TokenGapsTest {
    private static final long DAY_NANOS = 86_400_000_000_000L;

    /**
     * 40,000 additions of up to 9,000 equal gaps each, more than one number of the list can count; now and then of 30 to
     * 59 days, which it cannot hold at all.
     */
    @Test
    void largeCountsAndLongGaps_areCountedLikeAllOthers() {
        var random = new Random(5);
        var gaps = new TokenGaps();
        var all = DoubleStream.builder();
        for (int i = 0; i < 40_000; i++) {
            long nanos = random.nextInt(500) == 0 ? DAY_NANOS * (30 + random.nextInt(30)) : random.nextInt(20_000);
            int count = random.nextInt(1_000) == 0 ? 5_000 + random.nextInt(4_000) : 1 + random.nextInt(3);
            gaps.add(nanos, count);
            for (int j = 0; j < count; j++) {
                all.add((double) nanos);
            }
        }

        var counted = gaps.stats();
        var oneByOne = LatencyStats.of(all.build().toArray());

        assertThat(counted.count()).isEqualTo(oneByOne.count());
        assertThat(counted.p50Nanos()).isEqualTo(oneByOne.p50Nanos());
        assertThat(counted.p95Nanos()).isEqualTo(oneByOne.p95Nanos());
        assertThat(counted.maxNanos()).isEqualTo(oneByOne.maxNanos()).isGreaterThan(30.0 * DAY_NANOS);
        assertThat(gaps.stats()).as("asked again").isEqualTo(counted);
    }
}

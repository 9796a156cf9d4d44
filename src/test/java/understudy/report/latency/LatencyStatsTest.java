package understudy.report.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import understudy.report.TokenRate;

final class LatencyStatsTest {

    @Test
    void percentiles_interpolateBetweenRanks() {
        var stats = LatencyStats.of(new double[] {40, 10, 30, 20});

        // Ranks 0 to 3: p50 is rank 1.5, p90 is 2.7, p95 is 2.85, p99 is 2.97.
        assertThat(stats.p50Nanos()).isEqualTo(25);
        assertThat(stats.p90Nanos()).isCloseTo(37, within(1e-9));
        assertThat(stats.p95Nanos()).isCloseTo(38.5, within(1e-9));
        assertThat(stats.p99Nanos()).isCloseTo(39.7, within(1e-9));
        assertThat(stats.maxNanos()).isEqualTo(40);
        assertThat(stats.meanNanos()).isEqualTo(25);
        // Squares of -15, -5, 5, 15 are 500 in all; the population's variance is 125.
        assertThat(stats.stddevNanos()).isCloseTo(Math.sqrt(125), within(1e-9));
        assertThat(stats.count()).isEqualTo(4);
    }

    @Test
    void emptySet_isAllZero() {
        assertThat(LatencyStats.of(new double[0])).isEqualTo(new LatencyStats(0, 0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void oneValue_isEveryPercentile() {
        assertThat(LatencyStats.of(new double[] {7})).isEqualTo(new LatencyStats(1, 7, 0, 7, 7, 7, 7, 7));
    }

    @Test
    void countedGaps_agreeWithTheSameValuesOneByOne() {
        var random = new Random(4);
        var gaps = new TokenGaps();
        var all = DoubleStream.builder();
        for (int i = 0; i < 500; i++) {
            int nanos = random.nextInt(40);
            int count = 1 + random.nextInt(5);
            gaps.add(nanos, count);
            for (int j = 0; j < count; j++) {
                all.add(nanos);
            }
        }

        var counted = gaps.stats();
        var oneByOne = LatencyStats.of(all.build().toArray());

        assertThat(counted.count()).isEqualTo(oneByOne.count());
        assertThat(counted.p50Nanos()).isEqualTo(oneByOne.p50Nanos());
        assertThat(counted.p90Nanos()).isEqualTo(oneByOne.p90Nanos());
        assertThat(counted.p99Nanos()).isEqualTo(oneByOne.p99Nanos());
        assertThat(counted.meanNanos()).isCloseTo(oneByOne.meanNanos(), within(1e-9));
        assertThat(counted.stddevNanos()).isCloseTo(oneByOne.stddevNanos(), within(1e-9));
    }

    @Test
    void manyDifferentGaps_areMergedWithoutLoss() {
        var gaps = new TokenGaps();
        // Every number below 300,000 once, in an order that spreads over the whole range, and then every third once
        // more.
        for (long i = 0; i < 300_000; i++) {
            gaps.add(i * 7_919 % 300_000, 1);
        }
        for (long i = 0; i < 300_000; i += 3) {
            gaps.add(i, 1);
        }

        var stats = gaps.stats();

        // 0 + ... + 299,999 = 44,999,850,000, and 3 * (0 + ... + 99,999) = 14,999,850,000; 400,000 gaps in all.
        assertThat(stats.count()).isEqualTo(400_000);
        assertThat(stats.meanNanos()).isCloseTo(149_999.25, within(1e-6));
        assertThat(stats.maxNanos()).isEqualTo(299_999);
        assertThat(gaps.stats()).as("asking does not change it").isEqualTo(stats);
    }

    @Test
    void tokenRate_findsTheBusiestSecond() {
        var rate = new TokenRate();
        rate.add(900_000_000L, 5);
        rate.add(1_000_000_000L, 3);
        rate.add(1_999_999_999L, 4);
        rate.add(7_000_000_000L, 6);

        assertThat(rate.peak()).isEqualTo(7);
        assertThat(new TokenRate().peak()).isZero();
    }
}

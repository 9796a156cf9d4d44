package understudy.report.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class PackedCountsTest {
    @Test
    void numbersOfAnySize_comeBack() {
        var random = new SplittableRandom(1);
        var expected = new TreeMap<Long, Long>();
        for (int i = 0; i < 10_000; i++) {
            expected.put(
                    random.nextLong(1L << random.nextInt(1, 63)), 1 + random.nextLong(1L << random.nextInt(1, 63)));
        }
        var packed = new PackedCounts(0);

        expected.forEach(packed::add);

        assertThat(packed.size()).isEqualTo(expected.size());
        var found = new TreeMap<Long, Long>();
        var reader = packed.new Reader();
        while (reader.next()) {
            found.put(reader.value(), reader.count());
        }
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void largestNumbers_have63Bits() {
        var packed = new PackedCounts(0);

        packed.add(Long.MAX_VALUE, Long.MAX_VALUE);

        // 63 bits are nine groups of seven.
        assertThat(packed.numBytes()).isEqualTo(9 + 9);
    }

    @Test
    void numbersTakeOneByteForSevenBits() {
        var packed = new PackedCounts(0);
        for (int i = 1; i <= 1_000; i++) {
            packed.add(127L * i, 127);
        }
        packed.add(127_000 + 128, 128);

        // Distances and counts of seven bits, then one of each with eight.
        assertThat(packed.numBytes()).isEqualTo(1_000 * (1 + 1) + 2 + 2);
    }
}

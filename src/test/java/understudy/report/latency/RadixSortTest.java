package understudy.report.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** From 2,048 numbers on, digits of 11 bits are sorted; with fewer, the JDK does it. */
final class RadixSortTest {
    private final SplittableRandom random = new SplittableRandom(1);

    @ParameterizedTest
    @CsvSource({
        "0, 0, 1",
        "100, -1000, 1000",
        "2048, 0, 2",
        "5000, 7, 8",
        "5000, -3, 3000",
        "5000, 0, 4000000000",
        "5000, -9000000000000000000, 9000000000000000000"
    })
    void longs_ascend(int count, long from, long to) {
        long[] values = random.longs(count, from, to).toArray();
        long[] expected = values.clone();
        Arrays.sort(expected);

        RadixSort.sort(values);

        assertThat(values).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 1e-300, 1e6, 1e300})
    void doubles_ascend(double unit) {
        double[] values = random.doubles(5_000, -unit, 3 * unit).toArray();
        double[] expected = values.clone();
        Arrays.sort(expected);

        RadixSort.sort(values);

        assertThat(values).isEqualTo(expected);
    }
}

package understudy.replay.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against a set of the JDK, at sizes where a level is full or one more begins: 64, 64 * 64, 64 * 64 * 64. */
final class AccessSetTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 63, 64, 65, 4_095, 4_096, 4_097, 262_144, 262_145, 1_000_000})
    void randomNumbers_areTheSame(int size) {
        var set = new AccessSet(size);
        var expected = new TreeSet<Integer>();
        var random = new Random(size);

        for (int i = 0; i < 20_000; i++) {
            int number = random.nextInt(4) == 0 ? size - 1 - random.nextInt(Math.min(size, 3)) : random.nextInt(size);
            if (expected.contains(number) || random.nextInt(3) == 0) {
                assertThat(set.remove(number)).isEqualTo(expected.remove(number));
            } else {
                set.add(number);
                expected.add(number);
            }
            if (!expected.isEmpty()) {
                assertThat(set.last()).isEqualTo(expected.last());
            }
            if (expected.size() > 40) {
                expected.forEach(set::remove);
                expected.clear();
            }
        }
    }
}

package understudy.scaling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class SlidingExtremeTest {
    private record Timed(long atNanos, int number) {}

    @Test
    void emptyWindow_hasTheNumberItself() {
        assertThat(new SlidingExtreme(Math::min, 10).with(7, 0)).isEqualTo(7);
    }

    @Test
    void numberAsOldAsTheWindow_countsNoMore() {
        var lowest = new SlidingExtreme(Math::min, 10);
        lowest.add(5, 1);

        assertThat(lowest.with(3, 14)).isEqualTo(1);
        assertThat(lowest.with(3, 15)).isEqualTo(3);
    }

    /** Against a window that is searched from end to end. */
    @Test
    void randomNumbers_haveTheExtremeOfTheirWindow() {
        var random = new Random(17);
        var lowest = new SlidingExtreme(Math::min, 50);
        var highest = new SlidingExtreme(Math::max, 20);
        List<Timed> all = new ArrayList<>();
        long now = 0;
        for (int i = 0; i < 2000; i++) {
            now += random.nextInt(6);
            int number = random.nextInt(30);
            long at = now;

            assertThat(lowest.with(number, now))
                    .isEqualTo(all.stream()
                            .filter(each -> each.atNanos > at - 50)
                            .mapToInt(Timed::number)
                            .reduce(number, Math::min));
            assertThat(highest.with(number, now))
                    .isEqualTo(all.stream()
                            .filter(each -> each.atNanos > at - 20)
                            .mapToInt(Timed::number)
                            .reduce(number, Math::max));
            lowest.add(now, number);
            highest.add(now, number);
            all.add(new Timed(now, number));
        }
    }
}

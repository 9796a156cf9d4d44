package understudy.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.workload.RequestRate.Piece;

final class RequestRateTest {
    private static final double SECOND = 1e9;

    /** 2 per second for 10 s, nothing for 5 s, 10 per second from then on. */
    private final RequestRate rate =
            RequestRate.constant(2).changing(List.of(new Piece(15 * SECOND, 10), new Piece(10 * SECOND, 0)));

    @Test
    void gapIsAsLongAsItTakesToExpectSoManyArrivals() {
        assertThat(rate.nanosAfter(0, 1)).isEqualTo(0.5 * SECOND);
        assertThat(rate.nanosAfter(0, 20)).as("all of the 10 s").isEqualTo(10 * SECOND);
        // 1 s is left for 2 arrivals, then none for 5 s, then 3 at 10 per second.
        assertThat(rate.nanosAfter(9 * SECOND, 5)).isEqualTo(15.3 * SECOND);
        assertThat(rate.nanosAfter(12 * SECOND, 1)).isEqualTo(15.1 * SECOND);
        assertThat(rate.nanosAfter(20 * SECOND, 5)).isEqualTo(20.5 * SECOND);
    }

    @Test
    void constantRate_givesWhatItAlwaysGave() {
        assertThat(RequestRate.constant(3).nanosAfter(0.1 * SECOND, 0.7)).isEqualTo(0.1 * SECOND + 1e9 / 3 * 0.7);
        assertThat(RequestRate.constant(3).changing(List.of())).isEqualTo(RequestRate.constant(3));
        assertThat(RequestRate.constant(Double.POSITIVE_INFINITY).nanosAfter(0, 9))
                .isZero();
    }

    @Test
    void changeAtTheBeginning_takesThePlaceOfTheFirstRate() {
        assertThat(RequestRate.constant(2).changing(List.of(new Piece(0, 5)))).isEqualTo(RequestRate.constant(5));
    }

    @Test
    void poissonArrivals_followTheProfile() {
        var arrivals = Arrivals.create(rate, Gaps.POISSON, new RandomStreams(1), () -> 1);
        var counts = new int[25];
        for (double at = arrivals.nextNanos(); at < 25 * SECOND; at = arrivals.nextNanos()) {
            counts[(int) (at / SECOND)]++;
        }

        // 20 are expected before 10 s, and 100 from 15 s on; three standard deviations are 13 and 30.
        assertThat(sum(counts, 0, 10)).isBetween(7, 33);
        assertThat(sum(counts, 10, 15)).isZero();
        assertThat(sum(counts, 15, 25)).isBetween(70, 130);
    }

    private static int sum(int[] counts, int from, int to) {
        int sum = 0;
        for (int i = from; i < to; i++) {
            sum += counts[i];
        }
        return sum;
    }
}

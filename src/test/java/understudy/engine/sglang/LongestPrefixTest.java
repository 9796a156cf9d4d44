package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The limit of the order by prefixes; no recording has so many that wait. */
final class LongestPrefixTest {

    @ParameterizedTest
    @CsvSource({"128,r127", "129,r0"})
    void queue_isOrderedByPrefixUpTo128Requests(int numWaiting, String first) {
        var fixture = new SglangFixture(SchedulePolicy.LPM, 1, 400, false, false);
        fixture.add("cached", 1, 40, 1, 0, false);
        fixture.turn();
        for (int i = 0; i < numWaiting; i++) {
            boolean isLast = i == numWaiting - 1;
            fixture.add("r" + i, isLast ? 1 : 1_000 * (i + 1), isLast ? 41 : 4, 1, 0, false);
        }

        var batch = Objects.requireNonNull(fixture.turn().batch());

        assertThat(batch.request(0).name()).isEqualTo(first);
    }
}

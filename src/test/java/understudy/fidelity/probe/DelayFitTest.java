package understudy.fidelity.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import understudy.fidelity.probe.DelayFit.Point;

final class DelayFitTest {
    private static final Offset<Double> ROUNDING = Offset.offset(1e-3);

    /** 3 ms and 2 us for each token, beside steps of 10, 12 and 40 ms. */
    @Test
    void bothParts_areFound() {
        var fit = DelayFit.of(List.of(point(100, 3.2e6, 10e6), point(1000, 5e6, 12e6), point(4000, 11e6, 40e6)));

        assertThat(fit.fixedNanos()).isCloseTo(3e6, ROUNDING);
        assertThat(fit.perTokenNanos()).isCloseTo(2e3, ROUNDING);
        assertThat(fit.nanos(2000)).isCloseTo(7e6, ROUNDING);
        assertThat(fit.unseenPerTokenNanos()).isZero();
    }

    /**
     * Delays of 3 and 3.2 ms at both lengths: none goes by tokens. All times are 13 ms. The errors are 0.1 ms, their sum of
     * squares 0.04, over 2 degrees of freedom and the spread of four lengths, each 500 tokens from the mean: 0.1 / sqrt(2) /
     * 500 ms for each token, twice that is 0.283 us.
     */
    @Test
    void aPartThatIsNotSeen_hasABound() {
        var fit = DelayFit.of(List.of(
                point(1000, 3e6, 10e6), point(1000, 3.2e6, 9.8e6), point(2000, 3e6, 10e6), point(2000, 3.2e6, 9.8e6)));

        assertThat(fit.fixedNanos()).isCloseTo(3.1e6, ROUNDING);
        assertThat(fit.perTokenNanos()).isZero();
        assertThat(fit.unseenPerTokenNanos()).isCloseTo(2 * 0.1e6 / Math.sqrt(2) / 500, Offset.offset(1e-6));
    }

    @Test
    void oneLength_doesNotTellTheParts() {
        var fit = DelayFit.of(List.of(point(1000, 3e6, 10e6), point(1000, 3e6, 10e6), point(1000, 3e6, 10e6)));

        assertThat(fit.fixedNanos()).isCloseTo(3e6, ROUNDING);
        assertThat(fit.unseenPerTokenNanos()).isInfinite();
    }

    /** Steps that are said to take longer than the first token: there is no delay below 0. */
    @Test
    void delay_isNotNegative() {
        assertThat(DelayFit.of(List.of(point(100, -1e6, 10e6))).fixedNanos()).isZero();
    }

    private static Point point(int numTokens, double delayNanos, double stepNanos) {
        return new Point(numTokens, delayNanos + stepNanos, stepNanos);
    }
}

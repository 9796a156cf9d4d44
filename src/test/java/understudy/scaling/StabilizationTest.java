package understudy.scaling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import understudy.scaling.ScalingBehavior.Pace;

/** What Kubernetes documents of an HPA's {@code behavior}; an evaluation every 15 s. */
final class StabilizationTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Pace UP = new Pace(0, 100, 4, 15 * SECOND);
    private static final Pace DOWN = new Pace(300 * SECOND, 100, 0, 15 * SECOND);

    private Stabilization stabilization = defaults(1, 100);
    private int current = 1;

    @Test
    void scaleUp_doublesOrAddsFourInAPeriod_whicheverIsMore() {
        // 1 + 4 = 5 (2 by doubling), 5 x 2 = 10 (9), 10 x 2 = 20, then what is desired.
        assertThat(at(15, 37)).isEqualTo(5);
        assertThat(at(30, 37)).isEqualTo(10);
        assertThat(at(45, 37)).isEqualTo(20);
        assertThat(at(60, 37)).isEqualTo(37);
    }

    @Test
    void policies_countAllChangesOfThePeriod() {
        assertThat(at(15, 37)).isEqualTo(5);
        // 10 s later the period that began with one replica goes on: 1 + 4 = 5 is all there may be.
        assertThat(at(25, 37)).isEqualTo(5);
        assertThat(at(30, 37)).isEqualTo(10);
    }

    @Test
    void scaleDown_takesTheHighestRecommendationOfFiveMinutes() {
        start(10, 1, 100);
        at(15, 10);
        assertThat(at(30, 3)).isEqualTo(10);
        assertThat(at(45, 6)).isEqualTo(10);
        assertThat(at(60, 2)).isEqualTo(10);
        assertThat(at(314, 2)).as("10 was desired 299 s ago").isEqualTo(10);
        assertThat(at(315, 2)).as("6 is the most since").isEqualTo(6);
        assertThat(at(345, 2)).as("6 was desired 300 s ago").isEqualTo(2);
    }

    @Test
    void beginning_countsAsARecommendation() {
        start(8, 1, 100);
        assertThat(at(15, 2)).isEqualTo(8);
        assertThat(at(299, 2)).isEqualTo(8);
        assertThat(at(300, 2)).isEqualTo(2);
    }

    @Test
    void scaleUpWindow_takesTheLowestRecommendation() {
        stabilization =
                new Stabilization(new ScalingBehavior(1, 100, new Pace(60 * SECOND, 100, 4, 15 * SECOND), DOWN), 2);
        current = 2;
        assertThat(at(15, 6)).as("2 at the beginning").isEqualTo(2);
        assertThat(at(30, 4)).isEqualTo(2);
        assertThat(at(60, 6)).as("the lowest of 6, 4 and 6").isEqualTo(4);
    }

    @Test
    void scaleDownPolicies_limitWhatGoesInAPeriod() {
        // By 10 % or 4 pods: 80 - 8 = 72, 72 x 0.9 = 64.8 rounded down to 64, and so on; from 40 on it is 4 each time.
        stabilization = new Stabilization(new ScalingBehavior(1, 100, UP, new Pace(0, 10, 4, 60 * SECOND)), 80);
        current = 80;
        assertThat(at(60, 10)).isEqualTo(72);
        assertThat(at(75, 10)).as("the same period").isEqualTo(72);
        assertThat(at(120, 10)).isEqualTo(64);
        assertThat(at(180, 10)).as("57.6").isEqualTo(57);
        assertThat(at(240, 10)).as("51.3").isEqualTo(51);
        assertThat(at(300, 10)).as("45.9").isEqualTo(45);
        assertThat(at(360, 10)).as("40.5").isEqualTo(40);
        assertThat(at(420, 10)).isEqualTo(36);
        assertThat(at(480, 10)).isEqualTo(32);
        assertThat(at(540, 10)).isEqualTo(28);
        assertThat(at(600, 10)).as("25 by 10 %").isEqualTo(24);
    }

    @Test
    void limits_hold() {
        start(3, 2, 4);
        assertThat(at(15, 9)).isEqualTo(4);
        assertThat(at(400, 0)).as("9 is forgotten").isEqualTo(2);
    }

    @Test
    void numberOutsideOfTheLimits_movesToThemAtOnce() {
        start(20, 1, 4);
        assertThat(at(15, 20)).isEqualTo(4);
        current = 0;
        assertThat(at(30, 0)).as("all have crashed").isEqualTo(1);
    }

    @Test
    void zero_isNotStabilized() {
        start(3, 0, 10);
        assertThat(at(15, 0)).isZero();
        assertThat(at(30, 1)).isEqualTo(1);
        assertThat(at(45, 1)).isEqualTo(1);
    }

    private void start(int numReplicas, int min, int max) {
        stabilization = new Stabilization(new ScalingBehavior(min, max, UP, DOWN), numReplicas);
        current = numReplicas;
    }

    private static Stabilization defaults(int min, int max) {
        return new Stabilization(new ScalingBehavior(min, max, UP, DOWN), 1);
    }

    /** Evaluates, and lets the number follow. */
    private int at(long seconds, int desired) {
        current = stabilization.next(seconds * SECOND, current, desired);
        return current;
    }
}

package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.engine.RankRules;

/** Two ranks of four seats each; no recording covers what they agree on. */
final class RankDelaysTest {
    private static final RankDelays.State ABLE = new RankDelays.State(true, false, 0, 1, 0);
    private static final RankDelays.State BUSY = new RankDelays.State(false, false, 1, 0, 0);

    private static RankDelays delaying(double queueMinRatio, long maxDelayNanos, int maxPasses) {
        return of(0, new SglangConfig.Delay(0.5, queueMinRatio, maxDelayNanos, maxPasses));
    }

    private static RankDelays of(int interval, SglangConfig.@Nullable Delay delay) {
        return new RankDelays(SglangFixture.of(
                        4, 0, builder -> builder.prefillDecodeInterval(interval).prefillDelay(delay))
                .config);
    }

    private static List<Boolean> delays(RankDelays ranks, int count, RankDelays.State... states) {
        var turns = new ArrayList<Boolean>();
        for (int i = 0; i < count; i++) {
            turns.add(ranks.next(List.of(states), 2, false, i).delaysPrefills());
        }
        return turns;
    }

    /** A rank prefills: two turns without a prefill of any rank, from the end of the last one on. */
    @Test
    void interval_beginsWithThePrefillOfAnyRank() {
        var ranks = of(2, null);
        var skips = new ArrayList<Boolean>();
        for (boolean hasPrefilled : List.of(false, true, false, false, true, true, false, false)) {
            skips.add(ranks.next(List.of(ABLE), 2, hasPrefilled, 0).skipsPrefills());
        }

        assertThat(skips).containsExactly(false, true, true, false, true, true, true, false);
    }

    /** Three passes: two are waited for, and the third goes on. Then the wait begins anew. */
    @Test
    void prefill_waitsForARankThatHasNone() {
        assertThat(delays(delaying(0, 0, 3), 6, ABLE, BUSY)).containsExactly(true, true, false, true, true, false);
        // One that says nothing has nothing.
        assertThat(delays(delaying(0, 0, 3), 3, ABLE)).containsExactly(true, true, false);
    }

    @Test
    void ranksThatAllPrefill_doNotWait() {
        var ranks = delaying(0, 0, 3);

        assertThat(delays(ranks, 1, ABLE, BUSY)).containsExactly(true);
        assertThat(delays(ranks, 1, ABLE, ABLE)).containsExactly(false);
        // The count begins anew.
        assertThat(delays(ranks, 3, ABLE, BUSY)).containsExactly(true, true, false);
    }

    @Test
    void ranksWithoutPrefills_endTheWait() {
        var ranks = delaying(0, 0, 3);

        assertThat(delays(ranks, 1, ABLE, BUSY)).containsExactly(true);
        assertThat(delays(ranks, 1, BUSY, BUSY)).containsExactly(false);
        assertThat(delays(ranks, 3, ABLE, BUSY)).containsExactly(true, true, false);
    }

    /** Few tokens in use count in a rank that could prefill, and let all of them go on. */
    @ParameterizedTest
    @CsvSource({"true,true,false", "true,false,true", "false,true,true"})
    void rankInUseLittle_letsAllGoOn(boolean isAble, boolean isInUseLittle, boolean isDelayed) {
        var state = new RankDelays.State(isAble, isInUseLittle, 0, 1, 0);
        // Another one is able where this one is not.
        var other = isAble ? BUSY : ABLE;

        assertThat(delays(delaying(0, 0, 3), 1, state, other)).containsExactly(isDelayed);
    }

    /**
     * Of four seats one is free in the rank that runs most, and the other's largest batch had two requests: the first such delay
     * is left out, and the others have no end.
     */
    @Test
    void seats_countInTheFullestRankForTheLargestBatchOfAll() {
        var full = new RankDelays.State(true, false, 3, 1, 1);
        var other = new RankDelays.State(true, false, 0, 1, 2);

        assertThat(delays(delaying(0, 0, 3), 5, full, other)).containsExactly(false, true, true, true, true);
    }

    /** min(2 * 0.7, 2) = 1 is not more than what waits in one rank, while 2 * 1 is, for 3 ns from the second turn on. */
    @ParameterizedTest
    @CsvSource({"0.7,false,false,false,false", "1,false,true,true,true"})
    void queue_countsInTheRankWithMost(double ratio, boolean first, boolean second, boolean third, boolean fourth) {
        var runs = new RankDelays.State(true, false, 2, 1, 2);

        assertThat(delays(delaying(ratio, 3, 30), 5, runs, ABLE)).containsExactly(first, second, third, fourth, false);
    }

    @Test
    void turnIsFreeWithoutADelayer() {
        assertThat(of(2, null).next(List.of(ABLE, BUSY), 2, false, 0)).isEqualTo(RankRules.Turn.FREE);
    }
}

package understudy.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.plan.PlanFixture.name;
import static understudy.plan.PlanFixture.search;
import static understudy.plan.PlanFixture.units;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

final class PlanSearchTest {
    /** Three at 2.5 an hour are 7.5, and six at 1.5 are 9. Below that are five at 1.5, which cost as much, and four. */
    @Test
    void cheapest_isTheWinner_andTheNextCheaperOneIsWhatMisses() {
        double[] needed = {3, 6};
        var search =
                search(units(2.5, 1.5), 16, false, each -> needed[each.unit().index()] / each.count());

        assertThat(name(search.winner())).isEqualTo("3 x u0");
        // 4 x 1.5 = 6; 2 x 2.5 = 5.
        assertThat(name(search.nextCheaper())).isEqualTo("4 x u1");
        assertThat(search.nextCheaper().orElseThrow().load()).isEqualTo(2);
    }

    /** Both need four; the second uses nine tenths of what the first does. */
    @Test
    void ofEqualCost_theOneThatUsesLessWins() {
        double[] factors = {1, 0.9};
        var search =
                search(units(1, 1), 16, false, each -> 4 * factors[each.unit().index()] / each.count());

        assertThat(name(search.winner())).isEqualTo("4 x u1");
    }

    @Test
    void levelThatNothingKeeps_hasTheClosest() {
        var search = search(units(1, 2), 4, false, each -> (12.0 - each.unit().index()) / each.count());

        assertThat(search.winner()).isEmpty();
        assertThat(search.nextCheaper()).isEmpty();
        // 12 / 4 at 4 an hour and 11 / 4 at 8: both are on the front, and so were run whole.
        assertThat(name(search.closest())).isEqualTo("4 x u1");
    }

    @Test
    void cheapestOfAll_hasNothingBelow() {
        var search = search(units(1, 2), 4, false, each -> 0.5);

        assertThat(name(search.winner())).isEqualTo("1 x u0");
        assertThat(search.nextCheaper()).isEmpty();
    }

    /** What short loads do not refute may miss the whole one; then a kind comes back that halving has dropped. */
    @Test
    void whatHalvingDrops_comesBackBelowTheWinner() {
        // At 1.8 of the level u0 passes short loads with one replica, and fails whole ones up to ten: 10 an hour. u5
        // costs
        // 1.05 for each and needs two: 2.1 an hour. Halving takes two of the eight kinds, u0 and u1.
        var search = search(
                units(1, 1, 1.01, 1.02, 1.03, 1.05, 1.06, 1.07),
                16,
                false,
                each -> each.unit().index() == 5 ? 2.0 / each.count() : each.count() < 10 ? 1.8 : 0.9);

        assertThat(name(search.winner())).isEqualTo("2 x u5");
    }

    @Test
    void front_isWhatNothingBeats() {
        var search = search(
                units(1, 2),
                4,
                true,
                each -> 3.0 / each.count() / (1 + each.unit().index()));

        // At 1, 2, 3 and 4 an hour u0 uses 3, 1.5, 1 and 0.75; u1 at 2, 4, 6 and 8: 1.5, 0.75, 0.5 and 0.375.
        assertThat(search.front())
                .extracting(each -> each.candidate().name())
                .containsExactly("1 x u0", "2 x u0", "3 x u0", "4 x u0", "3 x u1", "4 x u1");
    }

    /** 24 kinds with up to 20 replicas: 480 candidates, of which each may keep the level from some number on. */
    @RepeatedTest(50)
    void search_findsWhatAllRunsFind_atATenthOfTheRequests(RepetitionInfo repetition) {
        var random = new SplittableRandom(repetition.getCurrentRepetition());
        double[] prices = random.doubles(24, 0.5, 4)
                .map(Math::rint)
                .map(price -> price + 0.5)
                .toArray();
        double[] needed = random.doubles(24, 1, 25).toArray();
        ToDoubleFunction<Candidate> ratio = each -> Math.pow(needed[each.unit().index()] / each.count(), 4);

        var found = search(units(prices), 20, false, ratio);
        var all = search(units(prices), 20, true, ratio);

        assertThat(name(found.winner())).isEqualTo(name(all.winner()));
        // Of several that cost as much, one is run whole.
        assertThat(found.nextCheaper().map(each -> each.candidate().hourCost()))
                .isEqualTo(all.nextCheaper().map(each -> each.candidate().hourCost()));
        assertThat(all.numRequests()).isEqualTo(480 * 1600);
        assertThat(found.numRequests()).isLessThan(480 * 160);
    }

    @Test
    void moreGpusThanAllowed_areNoCandidates() {
        var search = new PlanSearch(units(1), List.of(1, 2, 4), 2, Loads.of(100, 100, 4), false);

        assertThat(search.numCandidates()).isEqualTo(2);
    }
}

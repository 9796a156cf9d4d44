package understudy.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import understudy.settings.ScenarioException;

final class SweepPlanTest {
    private static final Variation REPLICAS = Variation.parse("cluster.replicas=1,2");
    private static final Variation SEQS = Variation.parse("engine.max-num-seqs=8,16");

    @Test
    void combinations_varyTheLastOneFastest() {
        var plan = new SweepPlan(List.of("x.conf", "y.conf"), List.of(REPLICAS, SEQS), List.of(), Optional.empty());

        assertThat(plan.combinations())
                .extracting(SweepPoint::name)
                .containsExactly(
                        "x.conf cluster.replicas=1 engine.max-num-seqs=8",
                        "x.conf cluster.replicas=1 engine.max-num-seqs=16",
                        "x.conf cluster.replicas=2 engine.max-num-seqs=8",
                        "x.conf cluster.replicas=2 engine.max-num-seqs=16",
                        "y.conf cluster.replicas=1 engine.max-num-seqs=8",
                        "y.conf cluster.replicas=1 engine.max-num-seqs=16",
                        "y.conf cluster.replicas=2 engine.max-num-seqs=8",
                        "y.conf cluster.replicas=2 engine.max-num-seqs=16");
    }

    @Test
    void seeds_areRunsOfACombination() {
        var plan = new SweepPlan(List.of("x.conf"), List.of(REPLICAS), List.of(1L, 2L), Optional.empty());

        assertThat(plan.withSeeds(plan.combinations().get(1)))
                .extracting(SweepPoint::name)
                .containsExactly("x.conf cluster.replicas=2 seed=1", "x.conf cluster.replicas=2 seed=2");
        assertThat(plan.maxRuns()).isEqualTo(4);
    }

    /** Both ends of 1..9, and three halvings of a width of 8, each with two seeds, for each of two combinations. */
    @Test
    void searches_countTheRunsThatTheyMayTake() {
        var search = Search.parse("engine.max-num-seqs=1..9", true, 0.01);
        var plan = new SweepPlan(List.of("x.conf"), List.of(REPLICAS), List.of(1L, 2L), Optional.of(search));

        assertThat(plan.maxRuns()).isEqualTo(2 * 2 * (2 + 3));
    }

    @Test
    void keyThatVariesTwice_isRefused() {
        var search = Search.parse("cluster.replicas=1..9", false, 0.01);

        assertThatThrownBy(() -> new SweepPlan(List.of("x.conf"), List.of(REPLICAS), List.of(), Optional.of(search)))
                .isInstanceOf(ScenarioException.class)
                .hasMessage("cluster.replicas varies twice");
    }

    @Test
    void tooManyPoints_areRefused() {
        var many = List.of(Variation.parse("a=1..2000"), Variation.parse("b=1..2000"));

        assertThatThrownBy(() -> new SweepPlan(List.of("x.conf"), many, List.of(), Optional.empty()))
                .hasMessage("4000000 points are more than 1000000");
    }
}

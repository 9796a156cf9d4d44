package understudy.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import understudy.plan.Judgement.Use;
import understudy.plan.PlanSearch.Tried;
import understudy.plan.ServingUnit.Gpus;

/** Units of one GPU each, and a world in which what they use of a level is known. */
final class PlanFixture {
    private PlanFixture() {}

    /** Units at these prices of an hour. */
    static List<ServingUnit> units(double... prices) {
        var units = new ArrayList<ServingUnit>();
        for (double price : prices) {
            units.add(new ServingUnit(
                    units.size(), "u" + units.size(), Map.of(), null, 1, List.of(new Gpus("gpu", 1, price))));
        }
        return units;
    }

    static Judgement judgement(double ratio, boolean isRefuted) {
        return new Judgement(List.of(new Use("p99 TTFT", "p99_ttft_ms", ratio, 1, ratio)), isRefuted);
    }

    /** Runs a search to its end; short loads refute what uses more than twice the level. */
    static PlanSearch search(
            List<ServingUnit> units, int maxCount, boolean isExhaustive, ToDoubleFunction<Candidate> ratio) {
        var counts = IntStream.rangeClosed(1, maxCount).boxed().toList();
        var loads = Loads.of(1600, 100, 4);
        var search = new PlanSearch(units, counts, 1000, loads, isExhaustive);
        for (var trials = search.next(); !trials.isEmpty(); trials = search.next()) {
            for (var trial : trials) {
                double used = ratio.applyAsDouble(trial.candidate());
                search.add(trial, judgement(used, used > (trial.load() == loads.last() ? 1 : 2)));
            }
        }
        return search;
    }

    static String name(Optional<Tried> tried) {
        return tried.map(each -> each.candidate().name()).orElse("none");
    }
}

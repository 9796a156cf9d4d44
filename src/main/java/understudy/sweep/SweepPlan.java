package understudy.sweep;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import understudy.settings.ScenarioException;

/**
 * Runs of a sweep: every combination of scenarios and variations, each with all seeds, and the search for a border in
 * each combination if there is one.
 *
 * @param scenarios files, at least one; an empty name is the defaults alone
 * @param seeds of the random streams of each run; none leaves that to the scenario
 */
public record SweepPlan(List<String> scenarios, List<Variation> variations, List<Long> seeds, Optional<Search> search) {
    private static final int MAX_POINTS = 1_000_000;

    /** Refuses keys that vary twice, and more than a million points. */
    public SweepPlan {
        var keys = new ArrayList<String>();
        variations.forEach(variation -> keys.addAll(variation.keys()));
        search.ifPresent(wanted -> keys.add(wanted.key()));
        if (!seeds.isEmpty()) {
            keys.add(SweepPoint.SEED);
        }
        for (String key : keys) {
            if (keys.indexOf(key) != keys.lastIndexOf(key)) {
                throw new ScenarioException(key + " varies twice");
            }
        }
        double numPoints = variations.stream()
                .mapToDouble(variation -> variation.values().size())
                .reduce((double) scenarios.size() * Math.max(1, seeds.size()), (a, b) -> a * b);
        if (numPoints > MAX_POINTS) {
            throw new ScenarioException(String.format("%.0f points are more than %d", numPoints, MAX_POINTS));
        }
    }

    /** Returns all combinations without a seed; the last variation varies fastest. */
    public List<SweepPoint> combinations() {
        var points = new ArrayList<SweepPoint>();
        scenarios.forEach(scenario -> points.add(new SweepPoint(scenario, Map.of())));
        List<SweepPoint> all = points;
        for (var variation : variations) {
            var next = new ArrayList<SweepPoint>();
            for (var point : all) {
                for (var values : variation.values()) {
                    next.add(with(point, variation.keys(), values));
                }
            }
            all = next;
        }
        return all;
    }

    private static SweepPoint with(SweepPoint point, List<String> keys, List<String> values) {
        var result = point;
        for (int i = 0; i < keys.size(); i++) {
            result = result.with(keys.get(i), values.get(i));
        }
        return result;
    }

    /** Returns the runs of a combination: one for each seed. */
    List<SweepPoint> withSeeds(SweepPoint combination) {
        return seeds.isEmpty()
                ? List.of(combination)
                : seeds.stream()
                        .map(seed -> combination.with(SweepPoint.SEED, seed.toString()))
                        .toList();
    }

    /** Returns how many runs there are, of a search the most that it may take. */
    public long maxRuns() {
        long perSearch = search.map(SweepPlan::maxRuns).orElse(1L);
        return combinations().size() * perSearch * Math.max(1, seeds.size());
    }

    private static long maxRuns(Search search) {
        double width = search.high().subtract(search.low()).doubleValue();
        double unit = search.isWhole()
                ? 1
                : search.tolerance() * Math.max(search.low().doubleValue(), 1e-9);
        return 2 + (long) Math.ceil(Math.log(Math.max(1, width / unit)) / Math.log(2));
    }
}

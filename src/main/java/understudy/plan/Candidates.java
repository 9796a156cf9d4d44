package understudy.plan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.engine.ModelTooLargeException;
import understudy.plan.PlanSettings.Axis;
import understudy.plan.ServingUnit.Gpus;
import understudy.plan.ServingUnit.Split;
import understudy.scenario.Scenario;
import understudy.scenario.SpecFiles;
import understudy.settings.Numbers;
import understudy.settings.ScenarioException;

/**
 * Units that a plan may be made of, and combinations that cannot be run.
 *
 * @param units those that fit
 * @param refused the others, by reason
 */
public record Candidates(List<ServingUnit> units, Map<String, List<String>> refused) {

    /** Values of all axes, in their order. */
    private record Combination(
            List<String> values, @Nullable String refusal) {}

    /**
     * Makes all combinations, and reads the scenario of each with one unit of it.
     *
     * @param scenario reads and checks the scenario with some settings
     * @throws ScenarioException if a value can be used in no combination, if nothing fits, or if a GPU has no price
     */
    public static Candidates of(PlanSettings plan, Function<Map<String, String>, Scenario> scenario) {
        var units = new ArrayList<ServingUnit>();
        var refused = new LinkedHashMap<String, List<String>>();
        var combinations = new ArrayList<Combination>();
        for (var values : combinations(plan.axes())) {
            String problem = null;
            try {
                var unit = unit(plan, values, units.size());
                var read = scenario.apply(unit.settings(1));
                if (isNew(unit, read)) {
                    units.add(new ServingUnit(
                            unit.index(),
                            unit.name(),
                            unit.settings(),
                            unit.split(),
                            unit.numRanks(),
                            gpus(read, plan.prices())));
                } else {
                    refuse(refused, "its ranks are replicas, since the model has no experts", unit.name());
                }
            } catch (ModelTooLargeException e) {
                refuse(refused, e.problem(), name(plan.axes(), values));
            } catch (MissingPriceException e) {
                throw e;
            } catch (ScenarioException e) {
                problem = String.valueOf(e.getMessage());
                refuse(refused, problem, name(plan.axes(), values));
            }
            combinations.add(new Combination(values, problem));
        }
        requireUsableValues(plan.axes(), combinations);
        if (units.isEmpty()) {
            throw new ScenarioException(
                    "no candidate fits: " + refused.keySet().iterator().next());
        }
        return new Candidates(List.copyOf(units), refused);
    }

    /** A price that is missing is a mistake, whatever else fits. */
    private static final class MissingPriceException extends ScenarioException {
        private static final long serialVersionUID = 1;

        MissingPriceException(String message) {
            super(message);
        }
    }

    private static void refuse(Map<String, List<String>> refused, String reason, String name) {
        refused.computeIfAbsent(reason, any -> new ArrayList<>()).add(name);
    }

    private static List<List<String>> combinations(List<Axis> axes) {
        List<List<String>> all = List.of(List.of());
        for (var axis : axes) {
            var next = new ArrayList<List<String>>();
            for (var values : all) {
                for (String value : axis.values()) {
                    var more = new ArrayList<>(values);
                    more.add(value);
                    next.add(more);
                }
            }
            all = next;
        }
        return all;
    }

    private static ServingUnit unit(PlanSettings plan, List<String> values, int index) {
        var settings = new LinkedHashMap<String, String>();
        Split split = null;
        int numRanks = 1;
        for (int i = 0; i < values.size(); i++) {
            String key = plan.axes().get(i).key();
            String value = values.get(i);
            if (key.equals(Axis.SPLIT)) {
                split = Split.parse(value);
            } else {
                settings.put(key, value);
                numRanks = key.equals(Axis.RANKS) ? (int) Math.max(1, Numbers.parse(value)) : numRanks;
            }
        }
        return new ServingUnit(index, name(plan.axes(), values), settings, split, numRanks, List.of());
    }

    /** Names the values that differ between candidates, and what they run on. */
    private static String name(List<Axis> axes, List<String> values) {
        var words = new ArrayList<String>();
        for (int i = 0; i < values.size(); i++) {
            var axis = axes.get(i);
            if (axis.key().equals(Axis.GPU) || axis.values().size() > 1) {
                words.add(axis.label() + values.get(i));
            }
        }
        return words.isEmpty() ? "replica" : String.join(" ", words);
    }

    /** Without experts the ranks of a group are so many replicas, which are candidates anyway. */
    private static boolean isNew(ServingUnit unit, Scenario scenario) {
        return unit.numRanks() == 1 || scenario.groups().get(0).deployment().lockstepSize() == unit.numRanks();
    }

    private static List<Gpus> gpus(Scenario scenario, Map<String, Double> prices) {
        var counts = new TreeMap<String, Integer>();
        for (var group : scenario.groups()) {
            var gpu = group.deployment().gpu();
            if (gpu == null) {
                throw new MissingPriceException("a plan needs GPUs: set plan.candidates.gpus; see 'understudy gpus'");
            }
            counts.merge(
                    gpu.spec().name(), group.numReplicas() * group.deployment().numGpus(), Integer::sum);
        }
        return counts.entrySet().stream()
                .map(entry -> new Gpus(entry.getKey(), entry.getValue(), price(entry.getKey(), prices)))
                .toList();
    }

    private static double price(String gpu, Map<String, Double> prices) {
        for (var entry : prices.entrySet()) {
            boolean isMeant = entry.getKey().equals(gpu)
                    || SpecFiles.GPUS
                            .find(entry.getKey())
                            .filter(file -> file.text("name").equals(gpu))
                            .isPresent();
            if (isMeant) {
                return entry.getValue();
            }
        }
        throw new MissingPriceException("plan.prices has none for " + gpu + "; set plan.prices." + gpu
                + " to the price of one for an hour, a number above 0");
    }

    /** A value that no combination can be run with, for a reason that names its key and is not memory, is a mistake. */
    private static void requireUsableValues(List<Axis> axes, List<Combination> combinations) {
        for (int i = 0; i < axes.size(); i++) {
            int place = i;
            for (String value : axes.get(i).values()) {
                var with = combinations.stream()
                        .filter(each -> each.values().get(place).equals(value))
                        .toList();
                boolean isMistake = with.stream()
                        .allMatch(each -> each.refusal() != null
                                && each.refusal().contains(axes.get(place).key()));
                if (isMistake) {
                    throw new ScenarioException("plan.candidates." + axes.get(i).name() + " has " + value + ": "
                            + with.get(0).refusal());
                }
            }
        }
    }
}

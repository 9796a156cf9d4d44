package understudy.fidelity.cells;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Cells that have something in common, and their errors.
 *
 * @param by property that they have in common
 * @param name of it
 * @param errors one for each latency model, in their order
 */
record CellGroup(String by, String name, List<CellErrors> errors) {
    private static final List<Property> PROPERTIES = List.of(
            new Property("all", setup -> "all"),
            new Property("GPU", MeasuredSetup::gpu),
            new Property("model", MeasuredSetup::shortModel),
            new Property("version", MeasuredSetup::version),
            new Property("weights", MeasuredSetup::formats),
            new Property(
                    "layout",
                    MeasuredSetup::parallelism,
                    Comparator.comparingInt(MeasuredSetup::dataParallelSize)
                            .thenComparingInt(MeasuredSetup::tensorParallelSize)),
            new Property(
                    "lengths",
                    MeasuredSetup::lengths,
                    Comparator.comparingInt(MeasuredSetup::inputTokens).thenComparingInt(MeasuredSetup::outputTokens)),
            new Property(
                    "concurrency",
                    setup -> String.valueOf(setup.concurrency()),
                    Comparator.comparingInt(MeasuredSetup::concurrency)),
            new Property(
                    "model and layout",
                    setup -> (setup.shortModel() + " " + setup.gpu() + " " + setup.parallelism()).strip()));

    /**
     * Property by which cells are grouped.
     *
     * @param value of a setup; an empty one is unknown, and makes no group
     * @param order of the groups
     */
    private record Property(String name, Function<MeasuredSetup, String> value, Comparator<MeasuredSetup> order) {
        Property(String name, Function<MeasuredSetup, String> value) {
            this(name, value, Comparator.comparing(value));
        }

        Map<String, List<CellRow>> groups(List<CellRow> rows) {
            return rows.stream()
                    .filter(row -> !value.apply(row.setup()).isEmpty())
                    .sorted(Comparator.comparing(CellRow::setup, order))
                    .collect(Collectors.groupingBy(
                            row -> value.apply(row.setup()), LinkedHashMap::new, Collectors.toList()));
        }
    }

    /** Returns the group of all cells, and those of each property. */
    static List<CellGroup> of(List<CellRow> rows, int numLatencyModels) {
        var groups = new ArrayList<CellGroup>();
        for (var property : PROPERTIES) {
            property.groups(rows)
                    .forEach((name, members) ->
                            groups.add(new CellGroup(property.name, name, errors(members, numLatencyModels))));
        }
        return groups;
    }

    private static List<CellErrors> errors(List<CellRow> rows, int numLatencyModels) {
        return IntStream.range(0, numLatencyModels)
                .mapToObj(i -> CellErrors.of(
                        rows.stream().map(row -> row.runs().get(i)).toList()))
                .toList();
    }
}

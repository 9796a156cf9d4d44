package understudy.fidelity.cells;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Cells that have something in common, and their mean errors.
 *
 * @param by property that they have in common
 * @param name of it
 * @param errors one for each latency model, in their order
 */
record CellGroup(String by, String name, List<CellErrors> errors) {

    /** Returns the group of all cells, those of each model, and within them those of each GPU and number of GPUs. */
    static List<CellGroup> of(List<CellRow> rows, int numLatencyModels) {
        var groups = new ArrayList<CellGroup>();
        add(groups, "all", rows, numLatencyModels, setup -> "all");
        add(groups, "GPU", rows, numLatencyModels, MeasuredSetup::gpu);
        add(groups, "model", rows, numLatencyModels, MeasuredSetup::shortModel);
        add(
                groups,
                "GPUs",
                rows,
                numLatencyModels,
                setup -> (setup.shortModel() + " " + setup.gpu() + " " + setup.parallelism()).strip());
        return groups;
    }

    private static void add(
            List<CellGroup> groups,
            String by,
            List<CellRow> rows,
            int numLatencyModels,
            Function<MeasuredSetup, String> name) {
        Map<String, List<CellRow>> byName = rows.stream()
                .collect(Collectors.groupingBy(row -> name.apply(row.setup()), TreeMap::new, Collectors.toList()));
        byName.forEach((each, members) -> groups.add(new CellGroup(
                by,
                each,
                IntStream.range(0, numLatencyModels)
                        .mapToObj(i -> CellErrors.of(
                                members.stream().map(row -> row.runs().get(i)).toList()))
                        .toList())));
    }
}

package understudy.fidelity.cells;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.json.Jackson;

/** Comparison as JSON, in snake case. */
final class CellJson {
    private CellJson() {}

    private record Comparison(List<Summary> summary, List<Cell> cells, List<LeftOut> leftOut) {}

    private record Summary(
            String by,
            String group,
            String latencyModel,
            int cells,
            double meanAbsoluteTpotErrorPercent,
            double meanTpotErrorPercent,
            double meanAbsoluteTtftErrorPercent,
            double meanTtftErrorPercent) {}

    private record Cell(
            MeasuredSetup setup,
            List<Long> lines,
            double measuredMeanTpotMs,
            double measuredMeanTtftMs,
            boolean shortOfKv,
            List<Run> runs) {}

    private record Run(
            String latencyModel,
            double meanTpotMs,
            double tpotErrorPercent,
            double meanTtftMs,
            double ttftErrorPercent) {}

    static String write(CellComparison comparison) {
        var summary = comparison.groups().stream()
                .flatMap(group -> summary(comparison.latencyModels(), group))
                .toList();
        var cells = comparison.rows().stream()
                .filter(CellRow::hasRun)
                .map(CellJson::cell)
                .toList();
        try {
            return Jackson.snakeCaseWriter().writeValueAsString(new Comparison(summary, cells, comparison.leftOut()))
                    + "\n";
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Summary> summary(List<String> latencyModels, CellGroup group) {
        return IntStream.range(0, latencyModels.size())
                .filter(i -> group.errors().get(i).numCells() > 0)
                .mapToObj(
                        i -> summary(group, latencyModels.get(i), group.errors().get(i)));
    }

    private static Summary summary(CellGroup group, String latencyModel, CellErrors errors) {
        return new Summary(
                group.by(),
                group.name(),
                latencyModel,
                errors.numCells(),
                errors.tpotMape(),
                errors.tpotBias(),
                errors.ttftMape(),
                errors.ttftBias());
    }

    private static Cell cell(CellRow row) {
        var runs = row.runs().stream()
                .filter(CellRun::hasRun)
                .map(run -> new Run(
                        run.latencyModel(),
                        run.tpotMillis(),
                        run.tpotErrorPercent(),
                        run.ttftMillis(),
                        run.ttftErrorPercent()))
                .toList();
        var cell = row.cell();
        return new Cell(cell.setup(), cell.lines(), cell.tpotMillis(), cell.ttftMillis(), row.isShortOfKv(), runs);
    }
}

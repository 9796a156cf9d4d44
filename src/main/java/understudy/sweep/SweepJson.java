package understudy.sweep;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import understudy.json.Jackson;

/** Writes the rows of a sweep as JSON: settings, verdict, every run's report, and means over seeds. */
public final class SweepJson {
    private SweepJson() {}

    /**
     * Returns the rows, indented.
     *
     * @param isPartial whether runs are missing since the sweep was broken off
     */
    public static String write(List<SweepRow> rows, boolean isPartial) {
        var root = Jackson.mapper().createObjectNode();
        root.put("partial", isPartial);
        var array = root.putArray("rows");
        var front = ParetoFront.of(rows);
        rows.forEach(row -> write(row, front.contains(row), array.addObject()));
        try {
            return Jackson.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(SweepRow row, boolean isOnFront, ObjectNode json) {
        json.put("scenario", row.point().scenario());
        var settings = json.putObject("settings");
        row.point().settings().forEach(settings::put);
        row.meetsSlo().ifPresent(isKept -> json.put("slo_met", isKept));
        json.put("pareto", isOnFront);
        row.border().ifPresent(border -> {
            json.put("border", border.name().toLowerCase(Locale.ROOT));
            writeTrials(row, json.putArray("tried"));
        });
        var runs = json.putArray("runs");
        row.runs().forEach(run -> write(run, runs.addObject()));
        if (row.runs().size() > 1) {
            writeMeans(row, json);
        }
    }

    private static void writeTrials(SweepRow row, ArrayNode tried) {
        for (var trial : row.tried()) {
            tried.addObject().put("value", trial.value()).put("slo_met", trial.isGood());
        }
    }

    private static void write(PointResult run, ObjectNode json) {
        json.put("name", run.name());
        run.meetsSlo().ifPresent(isKept -> json.put("slo_met", isKept));
        json.put("stopped_early", run.isHopeless());
        json.set("report", run.figures());
    }

    private static void writeMeans(SweepRow row, ObjectNode json) {
        var means = json.putObject("mean");
        var halfWidths = json.putObject("ci95");
        for (var field : row.runs().get(0).figures().properties()) {
            JsonNode value = field.getValue();
            if (value.isNumber()) {
                row.figure(field.getKey()).ifPresent(figure -> {
                    means.put(field.getKey(), figure.mean());
                    halfWidths.put(field.getKey(), figure.halfWidth());
                });
            }
        }
    }
}

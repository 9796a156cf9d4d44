package understudy.plan;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.Locale;
import understudy.json.Jackson;
import understudy.plan.PlanSearch.Tried;
import understudy.sweep.SweepRow;

/** Writes a report as JSON, which depends on the plan and its seeds alone. */
public final class PlanJson {
    private final PlanReport report;

    private PlanJson(PlanReport report) {
        this.report = report;
    }

    /** Returns the report, indented. */
    public static String write(PlanReport report) {
        return new PlanJson(report).text();
    }

    private String text() {
        var root = Jackson.mapper().createObjectNode();
        var search = report.search();
        search.winner().ifPresent(best -> explain(best, root.putObject("winner")));
        search.nextCheaper().ifPresent(cheaper -> explain(cheaper, root.putObject("next_cheaper")));
        if (search.winner().isEmpty()) {
            search.closest().ifPresent(closest -> explain(closest, root.putObject("closest")));
        }
        var front = root.putArray("front");
        search.front().forEach(each -> front.add(each.candidate().name()));
        var refused = root.putArray("refused");
        report.refused().forEach((reason, names) -> {
            var each = refused.addObject().put("reason", reason);
            names.forEach(each.putArray("candidates")::add);
        });
        var tried = root.putArray("tried");
        search.all().forEach(each -> write(each, tried.addObject()));
        var effort = root.putObject("effort");
        effort.put("candidates", search.numCandidates());
        effort.put("kinds", report.numUnits());
        report.loads().requests().forEach(effort.putArray("loads")::add);
        effort.put("seeds", report.numSeeds());
        effort.put("runs", (long) search.numTrials() * report.numSeeds());
        effort.put("emulated_requests", report.numRequests());
        effort.put("requests_of_all", report.numRequestsOfAll());
        try {
            return Jackson.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void explain(Tried tried, ObjectNode json) {
        write(tried, json);
        json.put("cost_per_million_output_tokens", report.costPerMillionTokens(tried));
        json.put("margin", 1 - tried.judgement().ratio());
        var bottleneck = report.bottleneck(tried);
        json.put("bound_by", bottleneck.kind().name().toLowerCase(Locale.ROOT));
        json.put("why", bottleneck.reason());
        var settings = json.putObject("settings");
        tried.candidate().settings().forEach(settings::put);
    }

    private void write(Tried tried, ObjectNode json) {
        var candidate = tried.candidate();
        json.put("candidate", candidate.name());
        json.put("gpus", candidate.numGpus());
        json.put("cost_per_hour", candidate.hourCost());
        json.put("requests", report.loads().numRequests(tried.load()));
        json.put("slo_met", tried.judgement().isKept());
        var limits = json.putArray("limits");
        for (var use : tried.judgement().uses()) {
            var limit = limits.addObject();
            limit.put("limit", use.limit()).put("allowed", use.allowed()).put("worst", use.value());
            report.row(tried).figure(use.key()).ifPresent(figure -> write(figure, limit));
        }
    }

    private static void write(SweepRow.Figure figure, ObjectNode json) {
        json.put("mean", figure.mean());
        if (!Double.isNaN(figure.halfWidth())) {
            json.put("ci95", figure.halfWidth());
        }
    }
}

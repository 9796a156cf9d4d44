package understudy.plan;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import understudy.plan.PlanSearch.Tried;
import understudy.report.Figures;
import understudy.report.html.Curve;
import understudy.report.html.Page;
import understudy.report.html.PageTables;

/** Page of a plan: the answer, the front of cost and level, everything that was run, and what was left out. */
public final class PlanPage {
    private static final int PERCENT = 100;

    private PlanPage() {}

    /**
     * Writes the page.
     *
     * @param facts about the plan, by name
     */
    public static void write(PlanReport report, Map<String, String> facts, Writer out) throws IOException {
        var search = report.search();
        var data = new Figures()
                .add("title", "Plan")
                .add("verdicts", verdicts(report))
                .add("facts", Page.pairs(facts))
                .add("effort", List.of(PlanText.effort(report)))
                .add("rows", PageTables.of(search.all(), PlanText.columns(report)));
        var front = search.front();
        data.addObject("front")
                .add(
                        "kept",
                        curve(front.stream()
                                .filter(each -> each.judgement().isKept())
                                .toList()))
                .add(
                        "missed",
                        curve(front.stream()
                                .filter(each -> !each.judgement().isKept())
                                .toList()))
                .add("rows", PageTables.of(front, PlanText.columns(report)));
        if (!report.refused().isEmpty()) {
            data.add("refused", PlanText.refusals(report));
        }
        new Page("Plan", "understudy/plan/plan.html", data, main(search)).write(out);
    }

    private static List<Figures> verdicts(PlanReport report) {
        boolean[] isGood = {report.winner().isPresent()};
        return PlanText.verdicts(report).stream()
                .map(line -> {
                    isGood[0] &= !line.startsWith("The next cheaper");
                    return new Figures().add("good", isGood[0]).add("text", line.strip());
                })
                .toList();
    }

    private static Figures curve(List<Tried> tried) {
        var finite = tried.stream()
                .filter(each -> each.judgement().ratio() < Double.POSITIVE_INFINITY)
                .toList();
        return Curve.of(
                finite.stream().mapToDouble(each -> each.candidate().hourCost()).toArray(),
                finite.stream()
                        .mapToDouble(each -> PERCENT * each.judgement().ratio())
                        .toArray());
    }

    private static Figures main(PlanSearch search) {
        var main = new Figures();
        search.winner()
                .ifPresent(best -> main.addObject(best.candidate().name())
                        .add("gpus", best.candidate().numGpus())
                        .add("cost_per_hour", best.candidate().hourCost()));
        return main;
    }
}

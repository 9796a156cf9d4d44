package understudy.replay;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.report.Figures;
import understudy.report.Unit;
import understudy.report.html.Page;

/** Report of a replay as a page: hit rates by policy and capacity, and how far apart the same content is used. */
public final class ReplayPage {
    private final ReplayReport report;

    private ReplayPage(ReplayReport report) {
        this.report = report;
    }

    /** Writes the page; the caller closes {@code out}. */
    public static void write(ReplayReport report, Writer out) throws IOException {
        var data = new Figures()
                .addJson("result", ReplayJson.compact(report))
                .add("files", String.join(", ", report.files()))
                .add("rates", new ReplayPage(report).rates());
        if (!report.sharing().isTimed()) {
            data.add("request_back_in_time", report.sharing().requestBackInTime());
        }
        new Page("Prefix-cache replay", "understudy/replay/replay.html", data, main(report)).write(out);
    }

    private static Figures main(ReplayReport report) {
        var main = new Figures()
                .add("requests", report.numRequests())
                .add("prompt_tokens", report.numPromptTokens())
                .add("block_size", report.blockSize())
                .add("block_accesses", report.sharing().numAccesses())
                .add("distinct_blocks", report.sharing().numBlocks());
        var rates = main.addObject("overall_hit_rate");
        report.results()
                .forEach(result -> rates.add(
                        result.policy().bounded()
                                ? result.policy() + "." + result.capacityBlocks()
                                : result.policy().toString(),
                        "",
                        Unit.SHARE,
                        result.overallHitRate()));
        return main;
    }

    /** Returns the rates of policies that one can have, and of those to compare them with. A rate that is none is null. */
    private Figures rates() {
        // Without a policy that has a capacity, there is one column all the same.
        var capacities = report.capacities().isEmpty() ? List.of(0) : report.capacities();
        var figures = new Figures()
                .add("capacities", report.capacities())
                .add("policies", rates(capacities, false))
                .add("ideals", rates(capacities, true));
        if (report.policies().contains(ReplayPolicy.BELADY_BYPASS)) {
            figures.addList(
                    "bound",
                    report.capacities().size(),
                    i -> bound(report.capacities().get(i)));
        }
        return figures;
    }

    private List<Figures> rates(List<Integer> capacities, boolean isIdeal) {
        return report.policies().stream()
                .filter(policy -> ReplayReport.isIdeal(policy) == isIdeal)
                .map(policy -> new Figures()
                        .add("policy", policy.toString())
                        .addList("rates", capacities.size(), i -> rate(policy, capacities.get(i))))
                .toList();
    }

    private @Nullable Figures rate(ReplayPolicy policy, int capacity) {
        return report.result(policy, capacity)
                .map(result ->
                        new Figures().add("share", result.overallHitRate()).add("best", report.isBest(result)))
                .orElse(null);
    }

    private @Nullable Double bound(int capacity) {
        var bound = report.boundOfHitRate(capacity);
        return bound.isPresent() ? bound.getAsDouble() : null;
    }
}

package understudy.chaos.answer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import understudy.chaos.autoscaler.evidence.ScalingEvidence;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.evidence.ScenarioEvidence;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.law.Verdict;

/**
 * The result as a page of one file, without scripts: the score card, and for each law that was not kept its time line, the
 * way of the first calls that show it, and the reason of a doubt.
 */
public final class KitPage {
    private static final String LAYOUT = "understudy/chaos/answer/kit.html";
    private static final String KEYS = "understudy/chaos/answer/";
    private static final String HOUSE_STYLE = "understudy/report/html/page.css";
    private static final int MAX_BREACHES = 20;
    private static final int MAX_STORIES = 3;
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{([a-z-]+)}}");

    private KitPage() {}

    /** Returns the page. */
    public static String of(KitResult result) {
        var parts = Map.of(
                "style", resource(HOUSE_STYLE),
                "target", escaped(result.target()),
                "key", resource(KEYS + Words.of(result.kind()) + "-key.html"),
                "seed", String.valueOf(result.seed()),
                "summary", result.summary(),
                "verdict", result.isPassed() ? "good" : "bad",
                "card", card(result),
                "laws", laws(result),
                "failures", failures(result));
        return PLACEHOLDER
                .matcher(resource(LAYOUT))
                .replaceAll(match -> Matcher.quoteReplacement(parts.get(match.group(1))));
    }

    private static String card(KitResult result) {
        var laws = List.copyOf(result.laws().keySet());
        var html = new StringBuilder("<table class=\"card\"><thead><tr><th scope=\"col\">Scenario</th>");
        laws.forEach(law ->
                html.append("<th scope=\"col\"><span>").append(escaped(law)).append("</span></th>"));
        html.append("</tr></thead><tbody>\n");
        for (var scenario : result.scenarios()) {
            html.append("<tr><th scope=\"row\">")
                    .append(escaped(scenario.evidence().scenario()))
                    .append("</th>");
            laws.forEach(law -> html.append(cell(scenario, law)));
            html.append("</tr>\n");
        }
        return html.append("</tbody></table>\n").toString();
    }

    private static String cell(ScenarioResult scenario, String law) {
        for (var verdict : scenario.verdicts()) {
            if (verdict.law().equals(law)) {
                if (verdict.isKept()) {
                    return "<td class=\"kept\">kept</td>";
                }
                String link = "<a href=\"#" + id(scenario, verdict) + "\">";
                return verdict.isInDoubt()
                        ? "<td>" + link + "not judged</a></td>"
                        : "<td class=\"broken\">" + link + verdict.breaches().size() + "</a></td>";
            }
        }
        return "<td></td>";
    }

    private static String id(ScenarioResult scenario, Verdict verdict) {
        return escaped(scenario.evidence().scenario() + "." + verdict.law());
    }

    private static String laws(KitResult result) {
        var html = new StringBuilder("<table><tbody>\n");
        result.laws()
                .forEach((law, statement) -> html.append("<tr><th scope=\"row\">")
                        .append(escaped(law))
                        .append("</th><td class=\"words\">")
                        .append(escaped(statement))
                        .append("</td></tr>\n"));
        return html.append("</tbody></table>\n").toString();
    }

    private static String failures(KitResult result) {
        var html = new StringBuilder();
        for (var scenario : result.scenarios()) {
            for (var verdict : scenario.verdicts()) {
                if (!verdict.isKept()) {
                    html.append(failure(scenario, verdict));
                }
            }
        }
        return html.toString();
    }

    private static String failure(ScenarioResult scenario, Verdict verdict) {
        var html = new StringBuilder("<section id=\"" + id(scenario, verdict) + "\">\n<h2>")
                .append(escaped(scenario.evidence().scenario() + ": " + verdict.law()))
                .append("</h2>\n<p>")
                .append(escaped(scenario.description()))
                .append("</p>\n<p>")
                .append(escaped(verdict.statement()))
                .append("</p>\n")
                .append(verdict.isInDoubt() ? "<p>Not judged: " + escaped(verdict.doubt()) + ".</p>\n" : "")
                .append("<div class=\"wide\">")
                .append(timeline(scenario.evidence(), verdict))
                .append("</div>\n<ul>\n");
        verdict.breaches().stream()
                .limit(MAX_BREACHES)
                .forEach(breach ->
                        html.append("<li>").append(escaped(line(breach))).append("</li>\n"));
        int numMore = verdict.breaches().size() - MAX_BREACHES;
        html.append(numMore > 0 ? "<li>and " + numMore + " more</li>\n" : "").append("</ul>\n");
        verdict.breaches().stream()
                .map(Breach::callId)
                .filter(call -> !call.isEmpty())
                .distinct()
                .limit(MAX_STORIES)
                .forEach(call -> html.append(story(call, (Evidence) scenario.evidence())));
        return html.append("</section>\n").toString();
    }

    private static String timeline(ScenarioEvidence evidence, Verdict verdict) {
        return evidence instanceof ScalingEvidence ofAutoscaler
                ? ReplicaSvg.of(ofAutoscaler, verdict)
                : TimelineSvg.of((Evidence) evidence, verdict);
    }

    private static String story(String callId, Evidence evidence) {
        var html = new StringBuilder();
        evidence.calls().stream().filter(call -> call.id().equals(callId)).forEach(call -> {
            html.append("<table class=\"story\"><caption>Way of ")
                    .append(escaped(callId))
                    .append("</caption><tbody>\n");
            CallStory.of(call, evidence)
                    .forEach(event -> html.append("<tr><th scope=\"row\">")
                            .append(seconds(event.atNanos()))
                            .append("</th><td class=\"words\">")
                            .append(escaped(event.who()))
                            .append("</td><td class=\"words\">")
                            .append(escaped(event.what()))
                            .append("</td></tr>\n"));
            html.append("</tbody></table>\n");
        });
        return html.toString();
    }

    private static String line(Breach breach) {
        String call = breach.callId().isEmpty() ? "" : breach.callId() + ": ";
        return seconds(breach.atNanos()) + " " + call + breach.reason();
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
    }

    private static String escaped(String text) {
        return TimelineSvg.escaped(text);
    }

    private static String resource(String path) {
        try (InputStream in = KitPage.class.getResourceAsStream("/" + path)) {
            if (in == null) {
                throw new IllegalStateException("not in the jar: " + path);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package understudy.chaos.answer;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.report.Tables;

/** The result for the console: a table of scenarios by laws, and the first breaches of each law that was broken. */
public final class ScoreCard {
    /** Breaches that are shown of a law; the files have all of them. */
    private static final int MAX_SHOWN = 3;

    private ScoreCard() {}

    /** Returns the text, with a line break at its end. */
    public static String of(KitResult result) {
        var laws = List.copyOf(result.laws().keySet());
        var text =
                new StringBuilder(result.kind().title() + " " + result.target() + ", seed " + result.seed() + "\n\n");
        text.append(Tables.text(result.scenarios(), columns(laws))).append("\n\n");
        text.append("+ is kept, a number is that of breaches, ? could not be judged, and nothing is not judged by:\n");
        for (int i = 0; i < laws.size(); i++) {
            text.append(String.format(Locale.ROOT, "%4d  %s%n", i + 1, laws.get(i)));
        }
        result.scenarios().stream().filter(each -> !each.isPassed()).forEach(each -> append(each, text));
        if (!result.needTls().isEmpty()) {
            text.append("\nNot run without --tls: ")
                    .append(String.join(", ", result.needTls()))
                    .append('\n');
        }
        return text + "\n" + result.summary() + "\n";
    }

    private static List<ColumnData<ScenarioResult>> columns(List<String> laws) {
        var columns = new ArrayList<ColumnData<ScenarioResult>>();
        columns.add(Tables.words("scenario", row -> row.evidence().scenario()));
        for (int i = 0; i < laws.size(); i++) {
            String law = laws.get(i);
            columns.add(Tables.numbers(String.valueOf(i + 1), row -> mark(row, law)));
        }
        return columns;
    }

    private static String mark(ScenarioResult scenario, String law) {
        return scenario.verdicts().stream()
                .filter(verdict -> verdict.law().equals(law))
                .map(verdict -> verdict.isKept()
                        ? "+"
                        : verdict.isInDoubt()
                                ? "?"
                                : String.valueOf(verdict.breaches().size()))
                .findFirst()
                .orElse("");
    }

    private static void append(ScenarioResult scenario, StringBuilder text) {
        text.append('\n').append(scenario.evidence().scenario()).append('\n');
        for (var verdict : scenario.verdicts()) {
            if (verdict.isKept()) {
                continue;
            }
            if (verdict.isInDoubt()) {
                text.append("  ")
                        .append(verdict.law())
                        .append(": not judged: ")
                        .append(verdict.doubt())
                        .append('\n');
                continue;
            }
            text.append("  ")
                    .append(verdict.law())
                    .append(": ")
                    .append(verdict.statement())
                    .append('\n');
            verdict.breaches().stream().limit(MAX_SHOWN).forEach(breach -> text.append(line(breach)));
            int numMore = verdict.breaches().size() - MAX_SHOWN;
            if (numMore > 0) {
                text.append("    and ").append(numMore).append(" more\n");
            }
        }
    }

    private static String line(Breach breach) {
        String call = breach.callId().isEmpty() ? "" : breach.callId() + ": ";
        return String.format(Locale.ROOT, "    %7.3f s  %s%s%n", breach.atNanos() / 1e9, call, breach.reason());
    }
}

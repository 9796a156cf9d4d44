package understudy.adopt;

import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A scenario with the places that its values come from.
 *
 * @param title what was adopted, in one line
 * @param settings in the order in which they are written
 * @param seen what the sources say that is no setting, a line each
 * @param unknown what they do not say, and what stands for it, a line each
 */
public record AdoptedScenario(String title, List<Setting> settings, List<String> seen, List<String> unknown) {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]*|-?[0-9]+(\\.[0-9]+)?");
    private static final int WIDTH = 44;

    /** Returns these with more of everything. */
    public AdoptedScenario with(List<Setting> moreSettings, List<String> moreSeen, List<String> moreUnknown) {
        return new AdoptedScenario(
                title, both(settings, moreSettings), both(seen, moreSeen), both(unknown, moreUnknown));
    }

    private static <T> List<T> both(List<T> one, List<T> other) {
        return Stream.concat(one.stream(), other.stream()).toList();
    }

    /** Returns the scenario as a file. */
    public String text() {
        var lines = new ArrayList<String>();
        lines.add("# " + title);
        lines.add("# Beside each value stands where it comes from; all others are Understudy's defaults.");
        String section = "";
        for (var setting : settings) {
            String own = setting.key().split("\\.", 2)[0];
            if (!own.equals(section)) {
                lines.add("");
            }
            section = own;
            String assignment = setting.key() + " = " + written(setting.value());
            if (assignment.length() < WIDTH) {
                lines.add(assignment + " ".repeat(WIDTH - assignment.length()) + "# " + setting.where());
            } else {
                lines.add("# " + setting.where());
                lines.add(assignment);
            }
        }
        addList(lines, "What the sources say besides:", seen);
        addList(lines, "What they do not say:", unknown);
        return String.join("\n", lines) + "\n";
    }

    private static void addList(List<String> lines, String head, List<String> entries) {
        if (!entries.isEmpty()) {
            lines.add("");
            lines.add("# " + head);
            entries.forEach(entry -> lines.add("# - " + entry));
        }
    }

    /** Lists and objects are written as they are. */
    private static String written(String value) {
        boolean isNested = value.startsWith("[") || value.startsWith("{");
        return isNested || PLAIN.matcher(value).matches()
                ? value
                : TextNode.valueOf(value).toString();
    }
}

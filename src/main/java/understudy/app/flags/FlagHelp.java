package understudy.app.flags;

import java.util.ArrayList;
import java.util.Locale;
import java.util.stream.Collectors;

/** Help text of an engine's command line. */
public final class FlagHelp {
    private static final int WIDTH = 100;

    private FlagHelp() {}

    /**
     * Returns the text, lines of at most 120 characters.
     *
     * @param head what stands in front of the flags
     */
    public static String text(String head, FlagTable table) {
        var text = new StringBuilder(head);
        table.flags().stream()
                .filter(Flag::hasEffect)
                .forEach(flag -> text.append(
                        String.format(Locale.ROOT, "  %-36s %s%n", names(flag, table), flag.description())));
        text.append(String.format(Locale.ROOT, "%nAccepted without effect, with a warning:%n"));
        return text.append(wrapped(table.flags().stream()
                        .filter(flag -> !flag.hasEffect())
                        .map(Flag::name)
                        .toList()))
                .toString();
    }

    private static String names(Flag flag, FlagTable table) {
        String dashes = ", " + table.spelling().aliasDashes();
        String shorts = flag.names().stream().skip(1).map(name -> dashes + name).collect(Collectors.joining());
        return "--" + flag.name() + shorts;
    }

    private static String wrapped(Iterable<String> names) {
        var lines = new ArrayList<String>();
        var line = new StringBuilder(" ");
        for (String name : names) {
            if (line.length() + name.length() + 1 > WIDTH) {
                lines.add(line.toString());
                line = new StringBuilder(" ");
            }
            line.append(' ').append(name);
        }
        lines.add(line.toString());
        return String.join(System.lineSeparator(), lines);
    }
}

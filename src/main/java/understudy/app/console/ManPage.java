package understudy.app.console;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Manual page of a command in the language of {@code man}, from its {@code --help}. */
public final class ManPage {
    private final StringBuilder page = new StringBuilder();

    private ManPage() {}

    /** Returns the page. */
    public static String of(CommandLine command) {
        return new ManPage().page(command);
    }

    /** Returns the name of the page, such as {@code understudy-run}. */
    public static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName("-");
    }

    private String page(CommandLine command) {
        var spec = command.getCommandSpec();
        var usage = spec.usageMessage();
        var description = List.of(usage.description());
        line(".TH \"" + name(command).toUpperCase(Locale.ROOT) + "\" \"1\" \"\" \"Understudy\"");
        line(".nh");
        section("NAME");
        text(name(command) + " - " + plain(description.isEmpty() ? "" : description.get(0)));
        section("SYNOPSIS");
        line(".B " + escaped(spec.qualifiedName()));
        text(synopsis(spec));
        section("DESCRIPTION");
        paragraphs(description);
        arguments(spec);
        commands(command);
        exitCodes(usage.exitCodeList());
        footer(List.of(usage.footer()));
        seeAlso(command);
        return page.toString();
    }

    private static String synopsis(CommandSpec spec) {
        var words = Stream.concat(
                spec.options().isEmpty() ? Stream.empty() : Stream.of("[OPTIONS]"),
                spec.positionalParameters().stream()
                        .map(parameter ->
                                parameter.required() ? parameter.paramLabel() : "[" + parameter.paramLabel() + "]"));
        return words.collect(Collectors.joining(" ")) + (spec.subcommands().isEmpty() ? "" : " [COMMAND]");
    }

    private void arguments(CommandSpec spec) {
        section("OPTIONS");
        spec.positionalParameters().forEach(parameter -> entry(parameter.paramLabel(), description(parameter)));
        spec.options().stream()
                .filter(option -> !option.hidden())
                .sorted(Comparator.comparing(OptionSpec::longestName))
                .forEach(option -> entry(names(option), description(option)));
    }

    private static String names(OptionSpec option) {
        String names = Stream.of(option.names())
                .map(name -> option.negatable() ? name.replaceFirst("^--", "--[no-]") : name)
                .collect(Collectors.joining(", "));
        return option.arity().max() == 0 ? names : names + "=" + option.paramLabel();
    }

    private static String description(ArgSpec argument) {
        return Stream.of(argument.description()).map(ManPage::plain).collect(Collectors.joining(" "));
    }

    private void commands(CommandLine command) {
        if (command.getSubcommands().isEmpty()) {
            return;
        }
        section("COMMANDS");
        command.getSubcommands().forEach((name, each) -> {
            var description = each.getCommandSpec().usageMessage().description();
            entry(name, description.length == 0 ? "" : plain(description[0]));
        });
    }

    private void exitCodes(Map<String, String> meanings) {
        if (!meanings.isEmpty()) {
            section("EXIT STATUS");
            meanings.forEach((code, meaning) -> entry(code, plain(meaning)));
        }
    }

    /** Lines that are indented are to stay as they are. */
    private void footer(List<String> lines) {
        if (lines.stream().anyMatch(line -> !line.isBlank())) {
            section("EXAMPLES");
            line(".nf");
            lines.stream()
                    .map(ManPage::plain)
                    .filter(line -> !line.isBlank() && !line.equals("Examples:"))
                    .forEach(this::text);
            line(".fi");
        }
    }

    private void seeAlso(CommandLine command) {
        section("SEE ALSO");
        var parent = command.getParent();
        var others = parent == null ? command.getSubcommands().values().stream() : Stream.of(parent);
        text(others.map(other -> name(other) + "(1)").collect(Collectors.joining(", ")));
    }

    private void section(String title) {
        line(".SH \"" + title + "\"");
    }

    private void entry(String term, String description) {
        line(".TP");
        line("\\fB" + escaped(term) + "\\fR");
        text(description.isEmpty() ? term : description);
    }

    private void paragraphs(List<String> paragraphs) {
        for (String each : paragraphs) {
            if (each.isBlank()) {
                line(".PP");
            } else {
                text(plain(each));
            }
        }
    }

    private void text(String text) {
        line(escaped(text));
    }

    private void line(String line) {
        page.append(line).append('\n');
    }

    /** Help is written for a formatter, in which two percent signs stand for one. */
    private static String plain(String text) {
        return text.replace("%n", " ").replace("%%", "%");
    }

    /** Keeps hyphens as they are typed, and lines from being taken for requests. */
    private static String escaped(String text) {
        String escaped = text.replace("\\", "\\e").replace("-", "\\-");
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }
}

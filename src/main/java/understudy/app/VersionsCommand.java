package understudy.app;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.engine.version.EngineProfile;
import understudy.engine.version.EngineVersions;
import understudy.engine.version.VersionChange;
import understudy.engine.version.VersionDiff;
import understudy.json.Jackson;
import understudy.report.Tables;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Lists the versions that {@code engine.version} can name, and what changes between two of them. */
@Command(
        name = "versions",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the versions of engines that engine.version can name.",
            "With --show everything that is known of one, with --diff what changes for an operator from one to another;"
                    + " changes that are about settings of SCENARIO are marked with >."
        },
        footer = {
            "",
            "Examples:",
            "  understudy versions",
            "  understudy versions --show 0.30",
            "  understudy versions --diff 0.27 0.30 conf/demo.conf",
            "  understudy sweep conf/demo.conf --vary engine.version=0.27,0.30"
        })
final class VersionsCommand extends ConsoleCommand {
    private static final String VLLM = "vllm";
    private static final String KIND = "engine.kind";

    @Option(
            names = "--engine",
            paramLabel = "NAME",
            description =
                    "Of this engine alone: vllm, sglang. Default of --show" + " and --diff: that of SCENARIO, or vllm.")
    private @Nullable String engine;

    @Option(names = "--show", paramLabel = "VERSION", description = "Prints all that is known of a version.")
    private @Nullable String shown;

    @Option(
            names = "--diff",
            arity = "2",
            paramLabel = "VERSION",
            description = "Prints what changes from one to the other.")
    private List<String> compared = List.of();

    @Parameters(arity = "0..1", paramLabel = "SCENARIO", description = "Scenario file, with --diff.")
    private @Nullable String scenario;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Sets one setting of SCENARIO. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the same as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    /** What is printed, in both forms. */
    private record Answer(String text, ObjectNode json) {}

    @Override
    public Integer call() throws Exception {
        var output = RunOutput.checked(console(), jsonFile, null, null, null);
        if (scenario != null && compared.isEmpty()) {
            throw new ScenarioException(scenario + ": a scenario needs --diff");
        }
        var answer = answer();
        String json = Jackson.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(answer.json) + "\n";
        output.files().writeJson(json);
        return output.print(output.isJsonOnStdout() ? json : answer.text);
    }

    private Answer answer() {
        if (shown != null) {
            return shown(versions(Objects.requireNonNullElse(engine, VLLM)).profile(shown));
        }
        return compared.isEmpty() ? list() : diff();
    }

    private static EngineVersions versions(String engine) {
        return EngineVersions.of(engine)
                .orElseThrow(() -> new ScenarioException(
                        "--engine " + engine + ": must be one of " + String.join(", ", EngineVersions.engines())));
    }

    private Answer list() {
        var profiles = Stream.ofNullable(engine).findFirst().map(List::of).orElse(EngineVersions.engines()).stream()
                .map(VersionsCommand::versions)
                .flatMap(versions -> versions.names().stream().map(versions::profile))
                .toList();
        String table = Tables.text(
                profiles,
                List.of(
                        Tables.words("engine", EngineProfile::engine),
                        Tables.words("version", EngineProfile::version),
                        Tables.words("what", EngineProfile::what),
                        Tables.counts(
                                "changes so far", profile -> profile.changes().size()),
                        Tables.counts(
                                "second hand", profile -> profile.secondHand().size()),
                        Tables.counts("not known", profile -> profile.notKnown().size())));
        var json = Jackson.mapper().createObjectNode();
        var list = json.putArray("versions");
        profiles.forEach(profile -> list.addObject()
                .put("engine", profile.engine())
                .put("version", profile.version())
                .put("what", profile.what())
                .put("second_hand", profile.secondHand().size())
                .put("not_known", profile.notKnown().size()));
        return new Answer(table + "\n", json);
    }

    private static Answer shown(EngineProfile profile) {
        var lines = new ArrayList<String>();
        lines.add(profile.engine() + " " + profile.version() + ": " + profile.what());
        profile.changes().forEach(change -> lines.add("  " + line(change, change.value())));
        lines.addAll(notKnown(profile.notKnown()));
        var json = Jackson.mapper().createObjectNode();
        json.put("engine", profile.engine()).put("version", profile.version()).put("what", profile.what());
        var changes = json.putArray("changes");
        profile.changes().forEach(change -> put(change, changes.addObject()));
        profile.notKnown().forEach(json.putArray("not_known")::add);
        return new Answer(text(lines), json);
    }

    private Answer diff() {
        var given = scenario == null && settings.isEmpty()
                ? Map.<String, String>of()
                : new ScenarioFile(System.getenv()).given(scenario, settings);
        String of = Objects.requireNonNullElse(engine, given.getOrDefault(KIND, VLLM));
        var diff = VersionDiff.of(versions(of), compared.get(0), compared.get(1), given);
        var lines = new ArrayList<String>();
        String marked =
                scenario == null ? "" : ", " + diff.numMarked() + " of them about settings of " + scenario + " (>)";
        lines.add(
                of + " " + diff.from() + " to " + diff.to() + ": " + diff.rows().size() + " changes" + marked);
        for (var row : diff.rows()) {
            String values = row.before().isEmpty()
                    ? row.change().value()
                    : row.before() + " -> " + row.change().value();
            lines.add((row.given().isEmpty() ? "  " : "> ") + line(row.change(), values));
            row.given()
                    .forEach((key, value) -> lines.add("      the scenario has " + key + " = " + value
                            + (key.equals(row.change().name()) ? ", which stays" : "")));
        }
        lines.addAll(notKnown(diff.notKnown()));
        return new Answer(text(lines), json(diff));
    }

    private static ObjectNode json(VersionDiff diff) {
        var json = Jackson.mapper().createObjectNode();
        json.put("engine", diff.engine()).put("from", diff.from()).put("to", diff.to());
        var changes = json.putArray("changes");
        for (var row : diff.rows()) {
            var change = changes.addObject();
            put(row.change(), change);
            if (!row.before().isEmpty()) {
                change.put("before", row.before());
            }
            var given = change.putObject("scenario");
            row.given().forEach(given::put);
        }
        diff.notKnown().forEach(json.putArray("not_known")::add);
        return json;
    }

    private static void put(VersionChange change, ObjectNode json) {
        json.put("since", change.since())
                .put("kind", Section.nameOf(change.kind()))
                .put("name", change.name())
                .put("value", change.value())
                .put("effect", change.effect())
                .put("source", change.source())
                .put("second_hand", change.isSecondHand());
        change.concerns().forEach(json.putArray("concerns")::add);
    }

    private static String line(VersionChange change, String values) {
        String what =
                Stream.of(change.name(), values).filter(part -> !part.isEmpty()).collect(Collectors.joining(" = "));
        String source = change.isSecondHand() ? change.source() + ", second hand" : change.source();
        return String.format(Locale.ROOT, "%-9s %-14s ", change.since(), Section.nameOf(change.kind()))
                + (what.isEmpty() ? "" : what + ": ") + change.effect() + " (" + source + ")";
    }

    private static List<String> notKnown(List<String> sentences) {
        return sentences.stream().map(each -> "  not known: " + each).toList();
    }

    private static String text(List<String> lines) {
        return String.join("\n", lines) + "\n";
    }
}

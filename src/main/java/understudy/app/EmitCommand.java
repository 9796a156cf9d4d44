package understudy.app;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.app.emit.DeploymentFormat;
import understudy.app.emit.ServerCommands;
import understudy.app.sglang.SglangProgram;
import understudy.app.vllm.VllmProgram;
import understudy.routing.Signal;
import understudy.scenario.Scenario;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Writes the servers of a scenario as files that start them. */
@Command(
        name = "emit",
        mixinStandardHelpOptions = true,
        description = {
            "Writes what starts the servers of a scenario: the real ones, and the same emulated.",
            "commands: 'vllm serve' or 'launch_server', on stdout unless there is a folder. compose: files of docker"
                    + " compose. kubernetes: manifests, values of vLLM's production stack and of llm-d's model service,"
                    + " and values of Understudy's chart.",
            "Each command is read back: the emulated server has the very settings of the scenario's replicas. What the"
                    + " engine has no flag for is said as a note."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "2:bad input, or a file that cannot be written"},
        footer = {
            "",
            "Examples:",
            "  understudy emit conf/demo.conf",
            "  understudy emit my.conf --as kubernetes --dir deployment",
            "  understudy emit my.conf --as compose --set cluster.replicas=4"
        })
final class EmitCommand extends ConsoleCommand {
    /** Folder of the files, unless another is given. */
    static final String FOLDER = "deployment";

    @Parameters(paramLabel = "SCENARIO", description = "Path of a scenario.")
    private String scenario = "";

    @Option(
            names = "--as",
            paramLabel = "FORMAT",
            description = "commands, compose, kubernetes. Default: ${DEFAULT-VALUE}.")
    private String format = "commands";

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "Folder of the files, which is made if it is not there. Default: " + FOLDER + ", and stdout"
                    + " for commands.")
    private @Nullable Path folder;

    @Mixin
    private final ScenarioOptions options = new ScenarioOptions();

    @Override
    public Integer call() {
        var files = files(scenario, options.load(scenario, Map.of()), format("--as", format));
        if (folder == null && files.size() == 1) {
            files.values().forEach(text -> console().out().print(text));
        } else {
            var place = folder == null ? Path.of(FOLDER) : folder;
            requireFolder("--dir", place);
            int written = console().write(() -> write(files, place, console().out()));
            return Math.max(written, console().flush());
        }
        return console().flush();
    }

    /**
     * Returns a format by its name.
     *
     * @param option that gives it
     */
    static DeploymentFormat format(String option, String name) {
        return Stream.of(DeploymentFormat.values())
                .filter(each -> Section.nameOf(each).equals(name))
                .findFirst()
                .orElseThrow(() -> new ScenarioException(option + " " + name + ": must be one of "
                        + Stream.of(DeploymentFormat.values())
                                .map(Section::nameOf)
                                .collect(Collectors.joining(", "))));
    }

    /** Returns the content of each file by its name. */
    static Map<String, String> files(String name, Section scenario, DeploymentFormat format) {
        var servers = new ServerCommands(List.of(new VllmProgram(), new SglangProgram())).of(scenario);
        String policy = scenario.section("router").text("policy");
        boolean readsKvEvents = Scenario.read(scenario).router().wants(Signal.KV_EVENTS);
        String image = "understudy:" + Understudy.Version.number("latest");
        return format.files(servers, new DeploymentFormat.Release(name, policy, readsKvEvents, image));
    }

    /**
     * Refuses a place that is taken by something else.
     *
     * @param option that gives it
     */
    static void requireFolder(String option, Path folder) {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new ScenarioException(option + " " + folder + ": not a folder");
        }
    }

    /** Writes files into a folder, and prints their paths. */
    static void write(Map<String, String> files, Path folder, PrintWriter out) throws IOException {
        Files.createDirectories(folder);
        for (var file : files.entrySet()) {
            var path = folder.resolve(file.getKey());
            NewFile.write(path, file.getValue());
            out.println(path);
        }
    }
}

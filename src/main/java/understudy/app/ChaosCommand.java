package understudy.app;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import understudy.app.console.BreakOff;
import understudy.app.console.Console;
import understudy.app.console.LogLevel;
import understudy.app.console.StatusLine;
import understudy.chaos.ChaosKit;
import understudy.chaos.answer.JUnitXml;
import understudy.chaos.answer.KitJson;
import understudy.chaos.answer.KitPage;
import understudy.chaos.answer.KitResult;
import understudy.chaos.answer.ScoreCard;
import understudy.chaos.gateway.CommandGateway;
import understudy.chaos.gateway.GatewayUnderTest;
import understudy.chaos.gateway.RunningGateway;
import understudy.chaos.gateway.reference.ReferenceGateway;
import understudy.chaos.gateway.reference.WrongDecision;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.scenario.ChaosScenario;
import understudy.chaos.scenario.ScenarioReader;
import understudy.runtime.Stopwatch;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;

/** Judges a gateway by replicas that misbehave. */
@Command(
        name = "chaos",
        mixinStandardHelpOptions = true,
        description = {
            "Judges a gateway, router or load balancer: starts emulated replicas behind it, sends load through it, lets"
                    + " one thing after the other go wrong, and checks by laws what came back.",
            "In --command and --config, {port} stands for the port to listen at, {backends} for HOST:PORT of all"
                    + " replicas with commas between, {backend0} and so on for each, {events} for the addresses of their"
                    + " KV events, {dir} for a scratch directory and"
                    + " {config} for the path of the filled-in file."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all laws were kept",
            "1:a law was broken",
            "2:bad input, a gateway that does not start, or a file that cannot be written",
            "130:broken off by Ctrl-C"
        },
        footer = {
            "",
            "Examples:",
            "  understudy chaos reference",
            "  understudy chaos reference:retry-after-first-byte --only crash-mid-stream,cut-mid-stream",
            "  understudy chaos --command 'my-router --port {port} --backends {backends}' --html chaos.html",
            "  understudy chaos http://127.0.0.1:8080 --ports 9001-9003 --junit chaos.xml"
        })
final class ChaosCommand implements Callable<Integer> {
    private static final int BROKEN_LAWS = 1;
    private static final int NOT_RUN = 2;
    private static final int INTERRUPTED = 130;
    private static final int MAX_PORT = 65535;
    private static final String REFERENCE = "reference";

    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private LogLevel logLevel = new LogLevel(LogLevel.Level.ERROR);

    @Parameters(
            paramLabel = "TARGET",
            arity = "0..1",
            description =
                    "A gateway that runs already, by its address, with --ports; or reference, the kit's own, which"
                            + " keeps all laws; or reference:NAME, one with a known defect.")
    private @Nullable String target;

    @Option(names = "--command", paramLabel = "LINE", description = "Command of the shell that starts the gateway.")
    private @Nullable String line;

    @Option(names = "--config", paramLabel = "FILE", description = "File that is filled in for the command.")
    private @Nullable Path config;

    @Option(
            names = "--ports",
            paramLabel = "A-B",
            description = "Ports of the replicas, such as 9001-9003. Default: any that are free.")
    private @Nullable String ports;

    @Option(names = "--list", description = "Prints names and sentences of the scenarios, and runs none.")
    private boolean isList;

    @Option(names = "--only", paramLabel = "NAME", split = ",", description = "Scenarios to run. Default: all.")
    private List<String> only = List.of();

    @Option(
            names = "--scenario",
            paramLabel = "FILE",
            description = "Scenarios of a file in place of the kit's; see the manual.")
    private @Nullable Path scenarioFile;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the load. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(names = "--junit", paramLabel = "FILE", description = "Writes the verdicts as JUnit XML.")
    private @Nullable String junit;

    @Option(names = "--json", paramLabel = "FILE", description = "Writes the verdicts as JSON.")
    private @Nullable String json;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with the course of each call that broke a law.")
    private @Nullable String html;

    @Override
    public Integer call() throws IOException {
        var console = new Console(command.commandLine());
        var scenarios = scenarios();
        if (isList) {
            scenarios.forEach(scenario -> console.out().println(listed(scenario)));
            return console.flush();
        }
        requireWritable();
        try (var kit = new ChaosKit(gateway(), ports(), seed)) {
            var stop = new BreakOff(kit::stop);
            try {
                return run(kit, scenarios, console);
            } finally {
                stop.close();
            }
        }
    }

    private int run(ChaosKit kit, List<ChaosScenario> scenarios, Console console) {
        var results = new ArrayList<ScenarioResult>();
        var status = StatusLine.onStderr();
        var stopwatch = Stopwatch.start();
        try {
            for (var scenario : scenarios) {
                status.draw(
                        StatusLine.runs(results.size(), scenarios.size(), stopwatch.seconds()) + " " + scenario.name());
                var result = kit.run(scenario);
                if (kit.isStopped()) {
                    break;
                }
                results.add(result);
            }
        } catch (IOException e) {
            status.clear();
            console.warn(e.getMessage() + "; the gateway's log is in " + kit.directory());
            return NOT_RUN;
        } finally {
            status.clear();
        }
        int exitCode = answer(new KitResult(gateway().name(), seed, results), console);
        return kit.isStopped() ? INTERRUPTED : exitCode;
    }

    private int answer(KitResult result, Console console) {
        console.out().print(ScoreCard.of(result));
        int exitCode = Stream.of(
                        console.flush(),
                        write(console, junit, () -> JUnitXml.of(result)),
                        write(console, json, () -> KitJson.of(result)),
                        write(console, html, () -> KitPage.of(result)))
                .max(Integer::compare)
                .orElseThrow();
        return result.isPassed() ? exitCode : Math.max(exitCode, BROKEN_LAWS);
    }

    private static int write(Console console, @Nullable String file, Supplier<String> text) {
        return file == null ? 0 : console.write(() -> NewFile.write(Path.of(file), text.get()));
    }

    /** Finds out before the scenarios, not after them, that an answer has no place to go. */
    private void requireWritable() {
        ReportFiles.writable("--junit", junit);
        ReportFiles.writable("--json", json);
        ReportFiles.writable("--html", html);
    }

    private static String listed(ChaosScenario scenario) {
        String incident = scenario.incident().isEmpty() ? "" : " (" + scenario.incident() + ")";
        return String.format(Locale.ROOT, "%-26s %s%s", scenario.name(), scenario.description(), incident);
    }

    private List<ChaosScenario> scenarios() {
        var all = scenarioFile == null ? ScenarioReader.builtIn() : ScenarioReader.file(scenarioFile);
        var byName = new LinkedHashMap<String, ChaosScenario>();
        all.forEach(scenario -> byName.put(scenario.name(), scenario));
        for (String name : only) {
            if (!byName.containsKey(name)) {
                throw new ScenarioException(
                        "--only is \"" + name + "\", which is no scenario" + meant(name, byName.keySet()));
            }
        }
        return only.isEmpty()
                ? all
                : all.stream().filter(each -> only.contains(each.name())).toList();
    }

    private static String meant(String name, Collection<String> known) {
        return KnownKeys.near(name, known)
                .map(near -> "; did you mean " + near + "?")
                .orElseGet(() -> "; known are " + String.join(", ", known));
    }

    private GatewayUnderTest gateway() {
        if ((line == null) == (target == null)) {
            throw new ScenarioException("there must be TARGET or --command, and not both");
        }
        if (line != null) {
            if (config != null && !Files.isRegularFile(config)) {
                throw new ScenarioException("--config is " + config + ", which is not a file");
            }
            return new CommandGateway(line, config);
        }
        String name = String.valueOf(target);
        if (name.equals(REFERENCE) || name.startsWith(REFERENCE + ":")) {
            return reference(name);
        }
        if (ports == null) {
            throw new ScenarioException(
                    "a gateway that runs already needs --ports, where it finds the replicas, such as --ports 9001-9003");
        }
        return new RunningGateway(address(name));
    }

    private static GatewayUnderTest reference(String name) {
        Map<String, WrongDecision> known = new LinkedHashMap<>();
        for (var wrong : WrongDecision.values()) {
            known.put(wrong == WrongDecision.NONE ? REFERENCE : REFERENCE + ":" + wrong.text(), wrong);
        }
        var wrong = known.get(name);
        if (wrong == null) {
            throw new ScenarioException("TARGET is \"" + name + "\"" + meant(name, new TreeSet<>(known.keySet())));
        }
        return new ReferenceGateway(wrong);
    }

    private static URI address(String text) {
        try {
            var uri = new URI(text);
            if ("http".equals(uri.getScheme()) && uri.getHost() != null && uri.getPort() > 0) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // The message below says what is allowed.
        }
        throw new ScenarioException("TARGET is \"" + text
                + "\", must be an address such as http://127.0.0.1:8080, reference, or reference:NAME");
    }

    private List<Integer> ports() {
        if (ports == null) {
            return List.of();
        }
        var bounds = ports.split("-", -1);
        if (!ports.matches("\\d{1,5}(-\\d{1,5})?")) {
            throw new ScenarioException("--ports is \"" + ports + "\", must be a range such as 9001-9003");
        }
        int first = Integer.parseInt(bounds[0]);
        int last = Integer.parseInt(bounds[bounds.length - 1]);
        if (first < 1 || last > MAX_PORT || last < first) {
            throw new ScenarioException("--ports is \"" + ports + "\", must be a range from 1 to " + MAX_PORT);
        }
        return IntStream.rangeClosed(first, last).boxed().toList();
    }
}

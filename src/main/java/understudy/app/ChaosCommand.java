package understudy.app;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import understudy.app.console.BreakOff;
import understudy.app.console.Console;
import understudy.app.console.LogLevel;
import understudy.app.console.StatusLine;
import understudy.chaos.AutoscalerKit;
import understudy.chaos.ChaosKit;
import understudy.chaos.ConformanceKit;
import understudy.chaos.answer.KitResult;
import understudy.chaos.answer.ScoreCard;
import understudy.chaos.autoscaler.scenario.ScalingScenarioReader;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.scenario.NamedScenario;
import understudy.chaos.scenario.ScenarioReader;
import understudy.runtime.Stopwatch;
import understudy.settings.ScenarioException;

/** Judges a gateway or an autoscaler by replicas that misbehave. */
@Command(
        name = "chaos",
        mixinStandardHelpOptions = true,
        description = {
            "Judges a gateway, router or load balancer: starts emulated replicas behind it, sends load through it, lets"
                    + " one thing after the other go wrong, and checks by laws what came back.",
            "In --command and --config, {port} stands for the port to listen at, {backends} for HOST:PORT of all"
                    + " replicas with commas between, {backend0} and so on for each, {scheme} for http or https, {ca} for"
                    + " the path of their authority's certificate with --tls, {events} for the addresses of their KV"
                    + " events, {dir} for a scratch directory and {config} for the path of the filled-in file.",
            "With --autoscaler it judges an autoscaler, and starts an emulated cluster that does what that one says. In its"
                    + " command and --config, {scale} stands for the address of a scale subresource as Kubernetes has it,"
                    + " {targets} for targets to scrape (Prometheus' HTTP service discovery), {metrics} for all metrics on"
                    + " one page (Prometheus' federation), {min} and {max} for replicas, {requests} for requests that a"
                    + " replica runs at a time, {period} and {window} for seconds, {period-ms} and {window-ms} for"
                    + " milliseconds."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all laws were kept",
            "1:a law was broken",
            "2:bad input, a gateway that does not start, or a file that cannot be written",
            "3:no law was broken, but one could not be judged, since this machine was late",
            "130:broken off by Ctrl-C"
        },
        footer = {
            "",
            "Examples:",
            "  understudy chaos reference",
            "  understudy chaos reference:retry-after-first-byte --only crash-mid-stream,cut-mid-stream",
            "  understudy chaos --command 'my-router --port {port} --backends {backends}' --html chaos.html",
            "  understudy chaos http://127.0.0.1:8080 --ports 9001-9003 --junit chaos.xml",
            "  understudy chaos --autoscaler reference:missing-as-zero --only series-vanish",
            "  understudy chaos --autoscaler 'my-scaler --metrics {metrics} --scale {scale} --max {max}'"
        })
final class ChaosCommand implements Callable<Integer> {
    private static final int BROKEN_LAWS = 1;
    private static final int NOT_RUN = 2;
    private static final int IN_DOUBT = 3;
    private static final int INTERRUPTED = 130;

    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private LogLevel logLevel = new LogLevel(LogLevel.Level.ERROR);

    @Mixin
    private ChaosTarget target = new ChaosTarget();

    @Option(names = "--list", description = "Prints names and sentences of the scenarios, and runs none.")
    private boolean isList;

    @Option(
            names = "--only",
            paramLabel = "NAME",
            split = ",",
            description = "Scenarios to run; in a name, * stands for any characters. Default: all.")
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

    @Mixin
    private ChaosAnswers answers = new ChaosAnswers();

    @Override
    public Integer call() throws IOException {
        var autoscaler = target.autoscaler();
        if (autoscaler.isPresent()) {
            return judge(
                    KitResult.Kind.AUTOSCALER,
                    scenarioFile == null ? ScalingScenarioReader.builtIn() : ScalingScenarioReader.file(scenarioFile),
                    autoscaler.get()::name,
                    () -> new AutoscalerKit(autoscaler.get(), seed));
        }
        return judge(
                KitResult.Kind.GATEWAY,
                scenarioFile == null ? ScenarioReader.builtIn() : ScenarioReader.file(scenarioFile),
                () -> target.gateway().name(),
                () -> new ChaosKit(target.gateway(), target.ports(), seed, target.isTls()));
    }

    private <S extends NamedScenario> int judge(
            KitResult.Kind kind, List<S> all, Supplier<String> name, Supplier<ConformanceKit<S>> maker) {
        var console = new Console(command.commandLine());
        var scenarios = chosen(all);
        if (isList) {
            scenarios.forEach(scenario -> console.out().println(listed(scenario)));
            return console.flush();
        }
        answers.requireWritable();
        var kit = maker.get();
        var breakOff = new BreakOff(kit::stop);
        // The kit ends first, and with it the processes of the target: Ctrl-C waits for that.
        try (breakOff;
                kit) {
            return run(kit, scenarios, kind, name, console);
        }
    }

    private <S extends NamedScenario> int run(
            ConformanceKit<S> kit, List<S> scenarios, KitResult.Kind kind, Supplier<String> name, Console console) {
        var needTls = scenarios.stream()
                .filter(scenario -> scenario.needsTls() && !target.isTls())
                .toList();
        var runnable = scenarios.stream()
                .filter(scenario -> !needTls.contains(scenario))
                .toList();
        var results = new ArrayList<ScenarioResult>();
        var status = StatusLine.onStderr();
        var stopwatch = Stopwatch.start();
        try {
            for (var scenario : runnable) {
                status.draw(
                        StatusLine.runs(results.size(), runnable.size(), stopwatch.seconds()) + " " + scenario.name());
                var result = kit.run(scenario);
                if (kit.isStopped()) {
                    break;
                }
                results.add(result);
            }
        } catch (IOException e) {
            status.clear();
            if (kit.isStopped()) {
                return INTERRUPTED;
            }
            console.warn(e.getMessage() + "; the " + kind.name().toLowerCase(Locale.ROOT) + "'s log is in "
                    + kit.directory());
            return NOT_RUN;
        } finally {
            status.clear();
        }
        int exitCode = answer(
                new KitResult(
                        kind,
                        name.get(),
                        seed,
                        results,
                        needTls.stream().map(NamedScenario::name).toList()),
                console);
        return kit.isStopped() ? INTERRUPTED : exitCode;
    }

    private int answer(KitResult result, Console console) {
        console.out().print(ScoreCard.of(result));
        int exitCode = Math.max(console.flush(), answers.write(result, console));
        return exitCode != 0 ? exitCode : exitCode(result);
    }

    /** Returns the exit code of a run whose answers are written. */
    static int exitCode(KitResult result) {
        if (result.isPassed()) {
            return 0;
        }
        return result.isBroken() ? BROKEN_LAWS : IN_DOUBT;
    }

    private static String listed(NamedScenario scenario) {
        String incident = scenario.incident().isEmpty() ? "" : " (" + scenario.incident() + ")";
        String option = scenario.needsTls() ? " [--tls]" : "";
        return String.format(Locale.ROOT, "%-33s %s%s%s", scenario.name(), scenario.description(), incident, option);
    }

    private <S extends NamedScenario> List<S> chosen(List<S> all) {
        var byName = new LinkedHashMap<String, S>();
        all.forEach(scenario -> byName.put(scenario.name(), scenario));
        if (only.isEmpty()) {
            return all;
        }
        var names = new HashSet<String>();
        for (String name : only) {
            var named = byName.get(name);
            if (named != null && named.needsTls() && !target.isTls() && !isList) {
                throw new ScenarioException("--only is \"" + name + "\", which runs only with --tls");
            }
            var matching = named == null ? matching(name, byName.keySet()) : List.of(name);
            if (matching.isEmpty()) {
                throw new ScenarioException(
                        "--only is \"" + name + "\", which is no scenario" + ChaosTarget.meant(name, byName.keySet()));
            }
            names.addAll(matching);
        }
        return all.stream().filter(each -> names.contains(each.name())).toList();
    }

    /** Returns the names that a pattern means, in which {@code *} stands for any characters. */
    private static List<String> matching(String pattern, Collection<String> names) {
        var regex = Pattern.compile(
                Stream.of(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*")));
        return names.stream().filter(name -> regex.matcher(name).matches()).toList();
    }
}

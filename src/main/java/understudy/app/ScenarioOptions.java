package understudy.app;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.app.console.ShellWord;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/** The options of every command that reads a scenario. */
final class ScenarioOptions {
    /** Options that are short for one setting, by its key. */
    private static final Map<String, String> SHORT_OPTIONS = Map.ofEntries(
            Map.entry("seed", "--seed"),
            Map.entry("server.port", "--port"),
            Map.entry("report.save-detailed", "--save-detailed"),
            Map.entry("workload.requests", "--num-prompts"),
            Map.entry("workload.trace", "--dataset-path"),
            Map.entry("workload.max-concurrency", "--max-concurrency"),
            Map.entry("workload.arrivals.request-rate", "--request-rate"),
            Map.entry("workload.arrivals.burstiness", "--burstiness"),
            Map.entry("workload.arrivals.ramp-up.strategy", "--ramp-up-strategy"),
            Map.entry("workload.arrivals.ramp-up.start-rps", "--ramp-up-start-rps"),
            Map.entry("workload.arrivals.ramp-up.end-rps", "--ramp-up-end-rps"));

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting, over environment (UNDERSTUDY_KEY) and file. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

    /** Returns a command that runs a scenario with the settings of the last {@link #load}. */
    String command(String file) {
        var command = new StringBuilder("understudy run ").append(ShellWord.quoted(file));
        settings.forEach((key, value) -> command.append(" --set ").append(ShellWord.quoted(key + "=" + value)));
        return command.toString();
    }

    /** Returns the settings of {@code --set}, with what other flags of a command are short for over them. */
    Map<String, String> with(Map<String, String> flags) {
        settings.putAll(flags);
        return settings;
    }

    /**
     * Returns the merged scenario; what other flags of a command are short for goes over {@code --set}.
     *
     * @param file or null for the defaults alone
     */
    Section load(@Nullable String file, Map<String, String> flags) {
        var typed = new LinkedHashMap<>(SHORT_OPTIONS);
        typed.keySet().retainAll(flags.keySet());
        return new ScenarioFile(System.getenv()).load(file, with(flags), typed);
    }
}

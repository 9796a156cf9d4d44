package understudy.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import understudy.latency.ApiDelay;
import understudy.report.run.RunSetup;
import understudy.routing.Role;
import understudy.settings.Defaults;
import understudy.settings.Section;

/** Summary of a scenario for a page about its run. */
public final class ScenarioSummary {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;

    private ScenarioSummary() {}

    /**
     * Returns the setup of a run.
     *
     * @param root from which the scenario was read
     * @param name of its file
     * @param command that runs it again
     */
    public static RunSetup of(Scenario scenario, Section root, String name, String command) {
        return new RunSetup(
                name,
                command,
                scenario.seed(),
                settings(root),
                scenario.resolve(root).render(),
                scenario.reasons(),
                scenario.warnings(),
                notModelled(scenario));
    }

    /** Returns the settings that are not as in the defaults, by key. */
    private static List<RunSetup.Setting> settings(Section root) {
        var usual = Defaults.SCENARIO.values();
        return root.values().entrySet().stream()
                .filter(entry -> !entry.getValue().equals(usual.get(entry.getKey())))
                .map(entry ->
                        new RunSetup.Setting(entry.getKey(), entry.getValue(), usual.getOrDefault(entry.getKey(), "")))
                .toList();
    }

    private static List<String> notModelled(Scenario scenario) {
        var lines = new ArrayList<String>();
        lines.add("Tokens mean nothing: there are no weights, and an answer is as long as the workload says.");
        lines.add("Media of requests count their tokens, and encoders take no time; there is no swapping.");
        lines.add(stepTime(scenario));
        if (scenario.groups().stream().allMatch(group -> group.latency().jitter() == 0)) {
            lines.add("Equal steps take equally long (latency.jitter = 0).");
        }
        lines.add("Requests and tokens take no time between router and replicas.");
        lines.add(edge(scenario.latency().apiDelay()));
        if (scenario.groups().stream().anyMatch(group -> group.role() != Role.BOTH)) {
            lines.add(
                    "KV of a computed prompt is fetched by the replica that answers; nobody pushes it layer by layer.");
        }
        return lines;
    }

    private static String stepTime(Scenario scenario) {
        return switch (scenario.latency().kind()) {
            case LINEAR -> "The time of a step is a sum of four terms (latency.model = linear), not that of kernels.";
            case PROFILE -> "The time of a step is fitted to a few measured steps (latency.model = profile).";
            case ROOFLINE ->
                "The time of a step follows from data sheets (latency.model = roofline), without pipeline"
                        + " parallelism and the padding of CUDA graphs.";
            case PROFILED ->
                "The time of a step follows from measured kernels (latency.model = profiled); what was not measured"
                        + " and the host's work, from formulas.";
        };
    }

    private static String edge(ApiDelay delay) {
        return delay.equals(ApiDelay.NONE)
                ? "HTTP and tokenizing take no time (latency.api-delay = 0)."
                : String.format(
                        Locale.ROOT,
                        "HTTP and tokenizing take %.3f ms and %.1f us per prompt token, whatever the load"
                                + " (latency.api-delay).",
                        delay.nanos() / NANOS_PER_MILLI,
                        delay.nanosPerPromptToken() / NANOS_PER_MICRO);
    }
}

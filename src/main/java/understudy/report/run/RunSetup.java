package understudy.report.run;

import java.util.List;
import understudy.report.Figures;

/**
 * Setup of a run: its scenario, how to repeat it, and its limits.
 *
 * @param scenario name of its file
 * @param command that runs it again
 * @param seed of every random stream
 * @param settings those that differ from their defaults
 * @param resolved the whole scenario, as text
 * @param reasons conclusions from the settings, a line each
 * @param warnings reservations about the results, a line each
 * @param notModelled effects that the run leaves out, a line each
 */
public record RunSetup(
        String scenario,
        String command,
        long seed,
        List<Setting> settings,
        String resolved,
        List<String> reasons,
        List<String> warnings,
        List<String> notModelled) {

    /** Setting with its value, and its default; empty if it has none. */
    public record Setting(String key, String value, String usual) {}

    Figures figures() {
        return new Figures()
                .add("scenario", scenario)
                .add("command", command)
                .add("seed", seed)
                .add(
                        "settings",
                        settings.stream()
                                .map(each -> new Figures()
                                        .add("key", each.key)
                                        .add("default", each.usual)
                                        .add("value", each.value))
                                .toList())
                .add("resolved", resolved)
                .add("reasons", reasons)
                .add("warnings", warnings)
                .add("not_modelled", notModelled);
    }
}

package understudy.fuzz;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;

/**
 * A scenario as it is written. Immutable.
 *
 * @param settings values in HOCON, by full key
 * @param faults entries of {@code faults.plan} in HOCON
 */
public record FuzzScenario(SortedMap<String, String> settings, List<String> faults) {

    /** Copies both. */
    public FuzzScenario {
        settings = Collections.unmodifiableSortedMap(new TreeMap<>(settings));
        faults = List.copyOf(faults);
    }

    FuzzScenario with(String key, String value) {
        var changed = new TreeMap<>(settings);
        changed.put(key, value);
        return new FuzzScenario(changed, faults);
    }

    FuzzScenario without(String key) {
        var changed = new TreeMap<>(settings);
        changed.remove(key);
        return new FuzzScenario(changed, faults);
    }

    FuzzScenario withoutFault(int index) {
        var changed = new ArrayList<>(faults);
        changed.remove(index);
        return new FuzzScenario(settings, changed);
    }

    /** Returns the scenario as a file has it: HOCON, one setting a line. */
    public String text() {
        var text = new StringBuilder();
        settings.forEach((key, value) -> text.append(key + " = " + value + "\n"));
        if (!faults.isEmpty()) {
            text.append("faults.plan = [\n  ")
                    .append(String.join("\n  ", faults))
                    .append("\n]\n");
        }
        return text.toString();
    }

    /** Returns the scenario with all defaults; environment variables do not count. */
    Section merged() {
        return new ScenarioFile(Map.of()).load(Section.of(text()));
    }
}

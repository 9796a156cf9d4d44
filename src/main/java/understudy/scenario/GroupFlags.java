package understudy.scenario;

import java.util.LinkedHashMap;
import java.util.Map;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Flags for one entry of {@code cluster.groups}, whose name stands in the key: {@code cluster.groups.decode.replicas}. */
final class GroupFlags {
    private static final String LIST = "cluster.groups";
    private static final String PREFIX = LIST + ".";

    private final Map<String, String> flags = new LinkedHashMap<>();
    private final Map<String, String> others = new LinkedHashMap<>();

    GroupFlags(Map<String, String> all) {
        all.forEach((key, value) -> (key.startsWith(PREFIX) ? flags : others).put(key, value));
    }

    /** Returns the flags that are for the whole scenario. */
    Map<String, String> others() {
        return others;
    }

    /**
     * Returns the scenario with these flags in its groups.
     *
     * @throws ScenarioException if it has no such group
     */
    Section apply(Section scenario) {
        var result = scenario;
        for (var flag : flags.entrySet()) {
            result = apply(result, flag.getKey(), flag.getValue());
        }
        return result;
    }

    private static Section apply(Section scenario, String key, String value) {
        var parts = key.substring(PREFIX.length()).split("\\.", 2);
        var groups = scenario.sections(LIST);
        var names = groups.stream().map(GroupFlags::name).toList();
        if (parts.length < 2 || !names.contains(parts[0])) {
            String known =
                    names.isEmpty() ? "the scenario has no groups" : "the groups are " + String.join(", ", names);
            throw new ScenarioException("--set " + key + ": must be " + PREFIX + "NAME.KEY; " + known);
        }
        var changed = groups.stream()
                .map(group -> parts[0].equals(name(group)) ? group.with(parts[1], value, "--set " + key) : group)
                .toList();
        return scenario.withSections(LIST, changed);
    }

    private static String name(Section group) {
        return group.has("name") ? group.text("name") : "";
    }
}

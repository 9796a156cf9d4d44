package understudy.engine.version;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import understudy.settings.Defaults;

/**
 * What changes for an operator between two versions of an engine.
 *
 * @param engine its name
 * @param rows the earliest first; of several changes of one setting only the last
 * @param notKnown what is not known of the later version, a sentence each
 */
public record VersionDiff(String engine, String from, String to, List<Row> rows, List<String> notKnown) {

    /**
     * A change.
     *
     * @param before value of a setting in the earlier version; else empty
     * @param given settings of the scenario that it is about, with their values
     */
    public record Row(VersionChange change, String before, SortedMap<String, String> given) {}

    public VersionDiff {
        rows = List.copyOf(rows);
        notKnown = List.copyOf(notKnown);
    }

    /**
     * Compares two versions.
     *
     * @param given settings that a scenario gives, by key; those in its groups among them
     */
    public static VersionDiff of(EngineVersions versions, String from, String to, Map<String, String> given) {
        var changes = versions.between(from, to);
        var earlier = versions.profile(from);
        var later = versions.profile(to);
        var last = new HashMap<String, VersionChange>();
        changes.stream().filter(change -> change.kind().isSetting()).forEach(change -> last.put(change.name(), change));
        var rows = new ArrayList<Row>();
        for (var change : changes) {
            if (!change.kind().isSetting()) {
                rows.add(new Row(change, "", about(change, given)));
                continue;
            }
            String before = earlier.defaults().getOrDefault(change.name(), usual(change.name()));
            if (change.equals(last.get(change.name())) && !change.value().equals(before)) {
                rows.add(new Row(change, before, about(change, given)));
            }
        }
        return new VersionDiff(earlier.engine(), earlier.version(), later.version(), rows, later.notKnown());
    }

    private static String usual(String key) {
        return Defaults.SCENARIO.values().getOrDefault(key, "");
    }

    private static SortedMap<String, String> about(VersionChange change, Map<String, String> given) {
        var about = new TreeMap<String, String>();
        given.forEach((key, value) -> {
            if (key.equals(change.name()) || change.concerns().contains(key)) {
                about.put(key, value);
            }
        });
        return about;
    }

    /** Returns how many changes are about settings of the scenario. */
    public long numMarked() {
        return rows.stream().filter(row -> !row.given.isEmpty()).count();
    }
}

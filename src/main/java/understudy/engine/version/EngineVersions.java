package understudy.engine.version;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import understudy.engine.version.VersionChange.Kind;
import understudy.settings.Hocon;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/**
 * Versions of an engine, the earliest first, and what changes with each, as the data file {@code
 * understudy/versions/ENGINE.conf} lists them.
 */
public final class EngineVersions {
    /** The version of our recordings, which the defaults of scenarios describe. */
    public static final String RECORDED = "recorded";

    /** Engines that have a data file. */
    private static final List<String> ENGINES = List.of("vllm", "sglang");

    private static final Section VERSION_KEYS = Section.of("title = \"\", what = \"\", accepts-earlier-flags = false");
    private static final Section CHANGE_KEYS =
            Section.of("name = \"\", value = \"\", concerns = [], effect = \"\", source = \"\", second-hand = false");

    private static final Map<String, EngineVersions> BY_ENGINE = new LinkedHashMap<>();

    static {
        ENGINES.forEach(engine -> BY_ENGINE.put(
                engine, new EngineVersions(engine, Hocon.resource("understudy/versions/" + engine + ".conf"))));
    }

    private final String engine;
    private final String title;
    private final Map<String, Version> versions = new LinkedHashMap<>();
    private final List<VersionChange> changes = new ArrayList<>();
    private final List<Gap> gaps = new ArrayList<>();

    /**
     * A version in the list.
     *
     * @param index place in the order of versions
     * @param title name in sentences
     * @param acceptsEarlierFlags whether flags that it has no more are taken, without effect
     */
    private record Version(int index, String title, String what, boolean acceptsEarlierFlags) {}

    /** Something that is not known of some versions. */
    private record Gap(List<String> versions, String what) {}

    private EngineVersions(String engine, Section file) {
        this.engine = engine;
        title = file.text("title");
        for (var each : file.sections("versions")) {
            String name = each.text("name");
            var version = each.without("name").withDefaults(VERSION_KEYS);
            String title = version.text("title").isEmpty() ? name : version.text("title");
            versions.put(
                    name,
                    new Version(versions.size(), title, version.text("what"), version.bool("accepts-earlier-flags")));
        }
        file.sections("changes").forEach(each -> changes.add(change(each)));
        changes.sort((one, other) -> Integer.compare(index(one.since()), index(other.since())));
        for (var each : file.sections("not-known")) {
            gaps.add(new Gap(each.texts("versions"), each.text("what")));
        }
    }

    private VersionChange change(Section line) {
        String since = line.choice("since", List.copyOf(versions.keySet()));
        var kind = line.choice("kind", Kind.class);
        var rest = line.without("since").without("kind").withDefaults(CHANGE_KEYS);
        return new VersionChange(
                since,
                kind,
                rest.text("name"),
                rest.text("value"),
                rest.texts("concerns"),
                rest.text("effect"),
                rest.text("source"),
                rest.bool("second-hand"));
    }

    /** Returns the engines whose versions are known. */
    public static List<String> engines() {
        return ENGINES;
    }

    /** Returns the versions of an engine; empty if none are known. */
    public static Optional<EngineVersions> of(String engine) {
        return Optional.ofNullable(BY_ENGINE.get(engine));
    }

    /** Reads the lines of a data file. */
    static EngineVersions of(String engine, String hocon) {
        return new EngineVersions(engine, Hocon.text(hocon, engine));
    }

    /**
     * Returns the profile that the section {@code engine} of a scenario names; empty for an engine without versions.
     *
     * @throws ScenarioException if there is no such version
     */
    public static Optional<EngineProfile> profile(Section engine) {
        var versions = of(engine.text("kind"));
        String version = engine.text("version");
        if (versions.isEmpty() && !version.equals(RECORDED)) {
            throw engine.unusable("version", "which needs engine.kind = " + String.join(" or ", ENGINES));
        }
        versions.filter(known -> !known.versions.containsKey(known.whole(version)))
                .ifPresent(known -> {
                    throw engine.unusable("version", "must be one of " + String.join(", ", known.names()));
                });
        return versions.map(known -> known.profile(version));
    }

    /** A number loses its last zero in YAML, and so does 0.30. */
    private String whole(String version) {
        String longer = version + "0";
        return versions.containsKey(longer) ? longer : version;
    }

    /** Returns the names of all versions, the earliest first. */
    public List<String> names() {
        return List.copyOf(versions.keySet());
    }

    /** Returns the profile of a version, which must be one of {@link #names}. */
    public EngineProfile profile(String name) {
        var version = version(name);
        var defaults = new HashMap<String, String>();
        var otherFlags = new HashMap<String, String>();
        var otherMetrics = new HashSet<String>();
        for (var change : changes) {
            boolean isIn = index(change.since()) <= version.index;
            if (isIn && change.kind().isSetting()) {
                defaults.put(change.name(), change.value());
            }
            switch (change.kind()) {
                case FLAG_ADDED -> {
                    if (!isIn) {
                        otherFlags.put(change.name(), "exists from " + title(change) + " on");
                    }
                }
                case FLAG_REMOVED -> {
                    if (isIn && !version.acceptsEarlierFlags) {
                        otherFlags.put(change.name(), "is gone from " + title(change) + " on");
                    }
                }
                case FLAG_RENAMED -> {
                    String renamed = "is --" + change.value() + " from " + title(change) + " on";
                    if (!isIn) {
                        otherFlags.put(change.value(), "was --" + change.name() + " before " + title(change));
                    } else if (!version.acceptsEarlierFlags) {
                        otherFlags.put(change.name(), renamed);
                    }
                }
                case METRIC_ADDED -> {
                    if (!isIn) {
                        otherMetrics.add(change.name());
                    }
                }
                case METRIC_REMOVED -> {
                    if (isIn) {
                        otherMetrics.add(change.name());
                    }
                }
                case DEFAULT, SWITCH, ENDPOINT, ERROR, BUG, NOTE -> {}
            }
        }
        return new EngineProfile(
                engine,
                whole(name),
                version.what,
                defaults,
                otherFlags,
                otherMetrics,
                changes.stream()
                        .filter(change -> index(change.since()) <= version.index)
                        .toList(),
                gaps.stream()
                        .filter(gap -> gap.versions.contains(whole(name)))
                        .map(Gap::what)
                        .toList());
    }

    /**
     * Returns what changes on the way from a version to a later one, the earliest first.
     *
     * @throws ScenarioException if one is not known, or the second is not later
     */
    public List<VersionChange> between(String from, String to) {
        int first = version(from).index;
        int last = version(to).index;
        if (last <= first) {
            throw new ScenarioException(engine + " " + to + ": must be later than " + from + "; the order is "
                    + String.join(", ", names()));
        }
        return changes.stream()
                .filter(change -> index(change.since()) > first && index(change.since()) <= last)
                .toList();
    }

    private String title(VersionChange change) {
        return title + " " + version(change.since()).title;
    }

    private int index(String name) {
        return version(name).index;
    }

    private Version version(String name) {
        var version = versions.get(whole(name));
        if (version == null) {
            throw new ScenarioException(
                    engine + " " + name + ": must be one of " + String.join(", ", versions.keySet()));
        }
        return version;
    }
}

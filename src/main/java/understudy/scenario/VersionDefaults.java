package understudy.scenario;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import understudy.engine.version.EngineProfile;
import understudy.engine.version.EngineVersions;
import understudy.settings.Defaults;
import understudy.settings.Section;

/** Defaults of the version that {@code engine.version} names: weaker than what a user gives, stronger than all others. */
public final class VersionDefaults {
    private static final String GROUPS = "cluster.groups";
    private static final String ENGINE = "engine";
    private static final List<String> CHOOSING = List.of("engine.kind", "engine.version");

    /** Sections that a group may have for itself. */
    private static final List<String> OF_GROUPS = List.of("engine.", "kv-cache.", "latency.");

    private VersionDefaults() {}

    /**
     * Returns the scenario that given settings make.
     *
     * @param plain the same with the defaults of all scenarios alone
     */
    static Section under(Section given, Section plain) {
        return profile(plain)
                .map(profile -> given.withFallback(profile.settings())
                        .withFallback(Defaults.SCENARIO)
                        .resolve())
                .orElse(plain);
    }

    /**
     * Returns the scenario with the defaults of the versions that its groups have.
     *
     * @param given what the user gives, without defaults
     */
    static Section ofGroups(Section scenario, Section given) {
        var groups = scenario.sections(GROUPS);
        if (groups.stream().noneMatch(VersionDefaults::chooses)) {
            return scenario;
        }
        var usual = profile(scenario);
        var changed = new ArrayList<Section>();
        for (var group : groups) {
            var merged = group.withFallback(scenario.only(ENGINE)).at(group.path());
            changed.add(group.withFallback(layer(usual, profile(merged), given)));
        }
        return scenario.withSections(GROUPS, changed);
    }

    /** Returns the profiles of a scenario's engines, each once. */
    public static List<EngineProfile> profiles(Section scenario) {
        var groups = scenario.sections(GROUPS).stream().map(group -> group.withFallback(scenario.only(ENGINE)));
        return (scenario.sections(GROUPS).isEmpty() ? Stream.of(scenario) : groups)
                .map(each -> EngineVersions.profile(each.section(ENGINE)))
                .flatMap(Optional::stream)
                .distinct()
                .toList();
    }

    private static boolean chooses(Section group) {
        return CHOOSING.stream().anyMatch(group::has);
    }

    /** The defaults of the scenario's version are in its sections already, and must not reach an engine of another one. */
    private static Section layer(Optional<EngineProfile> usual, Optional<EngineProfile> own, Section given) {
        var values = new LinkedHashMap<String, String>();
        usual.ifPresent(profile -> values.putAll(profile.defaults()));
        values.replaceAll((key, value) -> Defaults.SCENARIO.values().getOrDefault(key, value));
        own.ifPresent(profile -> values.putAll(profile.defaults()));
        var layer = Section.of(Map.of());
        for (var value : values.entrySet()) {
            boolean isOfGroups = OF_GROUPS.stream().anyMatch(value.getKey()::startsWith);
            if (isOfGroups && !given.has(value.getKey())) {
                layer = layer.with(value.getKey(), value.getValue(), "engine.version of a group");
            }
        }
        return layer;
    }

    /** The recorded version is what the defaults of all scenarios describe. */
    private static Optional<EngineProfile> profile(Section scenario) {
        var engine = scenario.section(ENGINE);
        return engine.text("version").equals(EngineVersions.RECORDED)
                ? Optional.empty()
                : EngineVersions.profile(engine);
    }
}

package understudy.chaos.scenario;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import understudy.chaos.evidence.Bounds;
import understudy.chaos.fleet.FleetSettings;
import understudy.chaos.fleet.Injection;
import understudy.chaos.law.Laws;
import understudy.chaos.load.LoadSettings;
import understudy.chaos.load.LoadSettingsBuilder;
import understudy.scenario.EmbeddedScenario;
import understudy.settings.Hocon;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Reads scenarios from HOCON. */
public final class ScenarioReader {
    private static final String FOLDER = "understudy/chaos/";
    private static final Section DEFAULTS = Hocon.resource(FOLDER + "scenario-defaults.conf");
    private static final Section LOAD_DEFAULTS = Hocon.resource(FOLDER + "load-defaults.conf");
    private static final String SCENARIOS = "scenarios";
    private static final double MAX_CALLS_PER_SECOND = 200;
    private static final int MAX_WORDS = 4000;
    private static final int MAX_REPLICAS = 16;
    private static final double MAX_NANOS = 120e9;

    /** Place of a mistake in a text that is from no file. */
    private static final Pattern PLACE = Pattern.compile("^String:[0-9]+: ");

    private ScenarioReader() {}

    /** Returns the scenarios of the kit, in their order. */
    public static List<ChaosScenario> builtIn() {
        return read(Hocon.resource(FOLDER + "scenarios.conf"));
    }

    /**
     * Reads a file of the user.
     *
     * @throws ScenarioException if it cannot be read or used; the message names the place, the value and what is allowed
     */
    public static List<ChaosScenario> file(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new ScenarioException(file + ": no such file");
        }
        return Hocon.checked(file.toString(), () -> read(Hocon.file(file).resolve()));
    }

    /** Reads a text; see {@link #file}. */
    public static List<ChaosScenario> text(String hocon) {
        return Hocon.checked(
                "scenarios", () -> read(Hocon.text(hocon, "scenarios").resolve()));
    }

    private static List<ChaosScenario> read(Section root) {
        new KnownKeys(Section.of("scenarios = []")).check(root);
        if (!root.has(SCENARIOS)) {
            throw new ScenarioException("there is no list scenarios = [{ ... }]");
        }
        var scenarios =
                root.sections(SCENARIOS).stream().map(ScenarioReader::scenario).toList();
        var names = new HashSet<String>();
        for (var scenario : scenarios) {
            if (!names.add(scenario.name())) {
                throw new ScenarioException("two scenarios have the name \"" + scenario.name() + "\"");
            }
        }
        return scenarios;
    }

    private static ChaosScenario scenario(Section written) {
        String openSection = written.path() + ".fleet.settings";
        new KnownKeys(DEFAULTS.at(written.path()), openSection::equals).check(written);
        var section = written.withFallback(DEFAULTS);
        String name = section.text("name");
        if (!name.matches("[a-z0-9][a-z0-9-]*")) {
            throw section.unusable("name", "must be of small letters, digits and dashes");
        }
        var fleet = fleet(section.section("fleet"));
        return ChaosScenarioBuilder.builder()
                .name(name)
                .description(section.text("description"))
                .incident(section.text("incident"))
                .fleet(fleet)
                .load(loads(section))
                .injections(injections(section, fleet))
                .laws(laws(section))
                .bounds(bounds(section.section("bounds")))
                .build();
    }

    private static FleetSettings fleet(Section fleet) {
        var engines = fleet.texts("engines");
        boolean isKnown = FleetSettings.KINDS.containsAll(engines);
        if (!isKnown || engines.isEmpty() || engines.size() > MAX_REPLICAS) {
            throw fleet.unusable(
                    "engines",
                    "must be a list of 1 to " + MAX_REPLICAS + " of " + String.join(", ", FleetSettings.KINDS));
        }
        var settings = new FleetSettings(
                engines, fleet.has("settings") ? fleet.section("settings").render() : "");
        // The settings of a cluster are read now, so that a mistake shows before anything starts.
        try {
            EmbeddedScenario.of(settings.hocon());
        } catch (ScenarioException e) {
            // Its place is in the text that is made of the fleet.
            String problem = PLACE.matcher(String.valueOf(e.getMessage())).replaceFirst("");
            throw fleet.problem(fleet.has("settings") ? "settings" : "engines", fleet.path() + ".settings: " + problem);
        }
        return settings;
    }

    private static List<LoadSettings> loads(Section section) {
        var loads = section.sections("load");
        return loads.isEmpty()
                ? List.of(load(LOAD_DEFAULTS.at(section.path() + ".load")))
                : loads.stream().map(ScenarioReader::load).toList();
    }

    private static LoadSettings load(Section written) {
        new KnownKeys(LOAD_DEFAULTS.at(written.path())).check(written);
        var load = written.withFallback(LOAD_DEFAULTS);
        return LoadSettingsBuilder.builder()
                .tenant(load.text("tenant"))
                .model(load.text("model"))
                .startNanos(nanos(load, "start"))
                .durationNanos(nanos(load, "for"))
                .callsPerSecond(load.number("rate", 0.1, MAX_CALLS_PER_SECOND))
                .streamedShare(load.number("streamed", 0, 1))
                .sessions(load.wholeNumber("sessions", 1, 10_000))
                .prefixWords(load.wholeNumber("prefix-words", 0, MAX_WORDS))
                .words(load.wholeNumber("words", 2, MAX_WORDS))
                .retries(load.wholeNumber("retries", 0, 10))
                .leaveEvery(load.wholeNumber("leave-every", 0, 10_000))
                .build();
    }

    private static long nanos(Section section, String key) {
        double nanos = section.nanos(key);
        if (nanos < 0 || nanos > MAX_NANOS) {
            throw section.unusable(key, "must be from 0 to 120s");
        }
        return Math.round(nanos);
    }

    private static List<Injection> injections(Section section, FleetSettings fleet) {
        var injections = new ArrayList<Injection>();
        for (var entry : section.entries("faults")) {
            try {
                injections.addAll(new InjectionParser(entry.values(), fleet).parse());
            } catch (IllegalArgumentException e) {
                throw entry.unusable("faults: " + e.getMessage());
            }
        }
        injections.sort(Comparator.comparingLong(Injection::atNanos));
        return injections;
    }

    private static List<String> laws(Section section) {
        var laws = section.texts("laws");
        for (String law : laws) {
            if (!Laws.names().contains(law)) {
                throw section.unusable("laws", "must be of " + String.join(", ", Laws.names()));
            }
        }
        return laws.isEmpty() ? Laws.names() : laws;
    }

    private static Bounds bounds(Section bounds) {
        return new Bounds(
                nanos(bounds, "grace"),
                nanos(bounds, "recovery"),
                nanos(bounds, "patience"),
                bounds.number("max-imbalance", 1, 1000),
                bounds.number("min-affinity", 0, 1),
                bounds.wholeNumber("max-idle-connections", 0, 10_000),
                bounds.number("min-success", 0, 1));
    }
}

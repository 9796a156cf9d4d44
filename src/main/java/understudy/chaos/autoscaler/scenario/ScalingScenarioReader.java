package understudy.chaos.autoscaler.scenario;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import understudy.chaos.autoscaler.evidence.Deadline;
import understudy.chaos.autoscaler.evidence.ScalingBounds;
import understudy.chaos.autoscaler.evidence.ScalingBoundsBuilder;
import understudy.chaos.autoscaler.fleet.LoadStep;
import understudy.chaos.autoscaler.law.ScalingLaws;
import understudy.chaos.autoscaler.plane.PlaneFault;
import understudy.settings.Hocon;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Reads scenarios of autoscalers from HOCON. */
public final class ScalingScenarioReader {
    private static final String FOLDER = "understudy/chaos/autoscaler/";
    private static final Section ALL_DEFAULTS = Hocon.resource(FOLDER + "scenario-defaults.conf");
    private static final Section DEFAULTS = ALL_DEFAULTS.section("scenario");
    private static final Section LOAD_DEFAULTS = ALL_DEFAULTS.section("load");
    private static final Section FAULT_DEFAULTS = ALL_DEFAULTS.section("fault");
    private static final Section DEADLINE_DEFAULTS = ALL_DEFAULTS.section("deadline");
    private static final String SCENARIOS = "scenarios";
    private static final int MAX_REPLICAS = 64;
    private static final int MAX_USERS = 2000;
    private static final double MAX_RATE = 1000;
    private static final double MAX_NANOS = 600e9;
    private static final int MAX_COUNT = 1_000_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private ScalingScenarioReader() {}

    /** Returns the scenarios of the kit, in their order. */
    public static List<ScalingScenario> builtIn() {
        return read(Hocon.resource(FOLDER + "scenarios.conf"));
    }

    /**
     * Reads a file of the user.
     *
     * @throws ScenarioException if it cannot be read or used; the message names the place, the value and what is allowed
     */
    public static List<ScalingScenario> file(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new ScenarioException(file + ": no such file");
        }
        return Hocon.checked(file.toString(), () -> read(Hocon.file(file).resolve()));
    }

    /** Reads a text; see {@link #file}. */
    public static List<ScalingScenario> text(String hocon) {
        return Hocon.checked(
                "scenarios", () -> read(Hocon.text(hocon, "scenarios").resolve()));
    }

    private static List<ScalingScenario> read(Section root) {
        new KnownKeys(Section.of("scenarios = []")).check(root);
        if (!root.has(SCENARIOS)) {
            throw new ScenarioException("there is no list scenarios = [{ ... }]");
        }
        var scenarios = root.sections(SCENARIOS).stream()
                .map(ScalingScenarioReader::scenario)
                .toList();
        var names = new HashSet<String>();
        for (var scenario : scenarios) {
            if (!names.add(scenario.name())) {
                throw new ScenarioException("two scenarios have the name \"" + scenario.name() + "\"");
            }
        }
        return scenarios;
    }

    private static ScalingScenario scenario(Section written) {
        var section = checked(written, DEFAULTS);
        String name = section.text("name");
        if (!name.matches("[a-z0-9][a-z0-9-]*")) {
            throw section.unusable("name", "must be of small letters, digits and dashes");
        }
        return ScalingScenarioBuilder.builder()
                .name(name)
                .description(section.text("description"))
                .incident(section.text("incident"))
                .replicas(section.wholeNumber("replicas", 0, MAX_REPLICAS))
                .startupMillis(millis(section, "startup", 0))
                .periodMillis(millis(section, "period", 1))
                .windowMillis(millis(section, "window", 0))
                .durationNanos(nanos(section, "for"))
                .load(load(section))
                .faults(section.sections("faults").stream()
                        .map(ScalingScenarioReader::fault)
                        .toList())
                .laws(laws(section))
                .bounds(bounds(section.section("bounds")))
                .build();
    }

    private static Section checked(Section written, Section defaults) {
        new KnownKeys(defaults.at(written.path())).check(written);
        return written.withFallback(defaults);
    }

    private static List<LoadStep> load(Section section) {
        var steps = section.sections("load").stream()
                .map(written -> {
                    var step = checked(written, LOAD_DEFAULTS);
                    return new LoadStep(
                            nanos(step, "at"),
                            step.wholeNumber("users", 0, MAX_USERS),
                            step.number("rate", 0, MAX_RATE));
                })
                .sorted(Comparator.comparingLong(LoadStep::atNanos))
                .toList();
        if (steps.isEmpty() || steps.get(0).atNanos() > 0) {
            throw section.unusable("load", "must begin with a step at 0s");
        }
        return steps;
    }

    private static TimedFault fault(Section written) {
        var fault = checked(written, FAULT_DEFAULTS);
        String instance = fault.text("instance");
        return new TimedFault(
                new PlaneFault(
                        fault.choice("do", PlaneFault.Kind.class),
                        instance.isEmpty() ? Optional.empty() : Optional.of(instance),
                        series(fault.text("series")),
                        millis(fault, "delay", 0)),
                nanos(fault, "at"),
                nanos(fault, "for"));
    }

    /** Returns the figures in a text such as {@code vllm:num_requests_waiting=0, vllm:num_requests_running=NaN}. */
    private static Map<String, String> series(String text) {
        var series = new LinkedHashMap<String, String>();
        for (String part : text.isBlank() ? new String[0] : text.split(",", -1)) {
            int equals = part.indexOf('=');
            String name = (equals < 0 ? part : part.substring(0, equals)).strip();
            series.put(name, equals < 0 ? "" : part.substring(equals + 1).strip());
        }
        return series;
    }

    private static List<String> laws(Section section) {
        var laws = section.texts("laws");
        for (String law : laws) {
            if (!ScalingLaws.names().contains(law)) {
                throw section.unusable("laws", "must be of " + String.join(", ", ScalingLaws.names()));
            }
        }
        return laws.isEmpty() ? ScalingLaws.names() : laws;
    }

    private static ScalingBounds bounds(Section bounds) {
        int min = bounds.wholeNumber("min-replicas", 0, MAX_REPLICAS);
        return ScalingBoundsBuilder.builder()
                .minReplicas(min)
                .maxReplicas(bounds.wholeNumber("max-replicas", Math.max(1, min), MAX_REPLICAS))
                .mostReplicas(bounds.wholeNumber("most-replicas", 0, MAX_REPLICAS))
                .maxReversals(bounds.wholeNumber("max-reversals", 0, MAX_COUNT))
                .graceNanos(nanos(bounds, "grace"))
                .retryNanos(nanos(bounds, "retry"))
                .zeroNanos(nanos(bounds, "zero"))
                .maxUnfinished(bounds.wholeNumber("max-unfinished", 0, MAX_COUNT))
                .maxCallsPerSecond(bounds.wholeNumber("max-calls-per-second", 1, MAX_COUNT))
                .deadlines(Stream.concat(deadlines(bounds, "up", true), deadlines(bounds, "down", false))
                        .toList())
                .build();
    }

    private static Stream<Deadline> deadlines(Section bounds, String key, boolean isUp) {
        return bounds.sections(key).stream().map(written -> {
            var deadline = checked(written, DEADLINE_DEFAULTS);
            return new Deadline(
                    nanos(deadline, "from"),
                    nanos(deadline, "within"),
                    isUp,
                    deadline.wholeNumber("replicas", 0, MAX_REPLICAS));
        });
    }

    private static int millis(Section section, String key, int min) {
        long millis = nanos(section, key) / NANOS_PER_MILLI;
        if (millis < min) {
            throw section.unusable(key, "must be at least " + min + "ms");
        }
        return (int) millis;
    }

    private static long nanos(Section section, String key) {
        double nanos = section.nanos(key);
        if (nanos > MAX_NANOS) {
            throw section.unusable(key, "must be from 0 to 600s");
        }
        return Math.round(nanos);
    }
}

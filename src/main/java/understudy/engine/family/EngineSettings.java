package understudy.engine.family;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import understudy.engine.EngineFamily;
import understudy.engine.EngineFamily.KvUse;
import understudy.engine.EngineSpec;
import understudy.engine.Hardware;
import understudy.latency.StepExecution;
import understudy.settings.Defaults;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** The sections {@code engine} and {@code kv-cache}, which the family of the engine reads. */
public final class EngineSettings {
    private static final String PREFIX = "engine.";

    private EngineSettings() {}

    /** Reads both sections; settings that are {@code auto} follow from the hardware. */
    public static EngineSpec read(Section engine, Section kvCache, Hardware hardware, KvUse use) {
        return family(engine).read(engine, kvCache, hardware, use);
    }

    /** Returns how the engine runs its steps. */
    public static StepExecution execution(Section engine, Hardware hardware) {
        return family(engine).execution(engine, hardware);
    }

    private static EngineFamily family(Section engine) {
        var families = families();
        String name = engine.choice("kind", List.copyOf(families.keySet()));
        families.keySet().stream()
                .filter(other ->
                        !other.equals(name) && EngineFamilies.builtInNames().contains(other))
                .filter(Defaults.SCENARIO.section("engine")::has)
                .forEach(other -> engine.section(other).requireOnly(List.of(), "which needs engine.kind = " + other));
        return Objects.requireNonNull(families.get(name));
    }

    /** Returns the settings with the values that {@code auto} stands for. */
    public static Section resolve(EngineSpec engine, Section settings) {
        var resolved = settings;
        for (var entry : engine.resolved().entrySet()) {
            resolved = resolved.with(entry.getKey(), entry.getValue());
        }
        return resolved;
    }

    /** Returns whether a key is the section of a family of engines that is not ours, of whose keys nothing is known. */
    public static boolean isOfAnotherFamily(String key) {
        boolean isOfGroup = key.startsWith("cluster.groups.");
        String name =
                isOfGroup || key.startsWith(PREFIX) ? key.substring(key.lastIndexOf(PREFIX) + PREFIX.length()) : "";
        return !name.isEmpty()
                && !EngineFamilies.builtInNames().contains(name)
                && families().containsKey(name);
    }

    private static Map<String, EngineFamily> families() {
        try {
            return EngineFamilies.byName();
        } catch (IllegalArgumentException | ServiceConfigurationError e) {
            throw new ScenarioException(String.valueOf(e.getMessage()));
        }
    }
}

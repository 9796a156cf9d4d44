package understudy.scenario;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValueFactory;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import understudy.engine.EngineFamily;
import understudy.engine.EngineFamily.KvUse;
import understudy.engine.EngineSpec;
import understudy.engine.family.EngineFamilies;
import understudy.latency.StepExecution;
import understudy.settings.Defaults;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** The sections {@code engine} and {@code kv-cache}, which the family of the engine reads. */
final class EngineSettings {
    private static final String PREFIX = "engine.";

    private EngineSettings() {}

    /** Reads both sections; what is {@code auto} follows from the hardware. */
    static EngineSpec read(Section engine, Section kvCache, Deployment deployment, KvUse use) {
        return family(engine).read(engine, kvCache, deployment, use);
    }

    /** Returns how the engine runs its steps. */
    static StepExecution execution(Section engine, Deployment deployment) {
        return family(engine).execution(engine, deployment);
    }

    private static EngineFamily family(Section engine) {
        var families = families();
        String name = engine.choice("kind", List.copyOf(families.keySet()));
        families.keySet().stream()
                .filter(other ->
                        !other.equals(name) && EngineFamilies.builtInNames().contains(other))
                .filter(Defaults.CONFIG.getConfig("engine")::hasPath)
                .forEach(other -> engine.section(other).requireOnly(List.of(), "which needs engine.kind = " + other));
        return Objects.requireNonNull(families.get(name));
    }

    /** Returns {@code config} with the values that {@code auto} stands for. */
    static Config resolve(EngineSpec engine, Config config) {
        var resolved = config;
        for (var entry : engine.resolved().entrySet()) {
            resolved = resolved.withValue(entry.getKey(), ConfigValueFactory.fromAnyRef(entry.getValue()));
        }
        return resolved;
    }

    /** Returns whether a key is the section of a family of engines that is not ours, of whose keys nothing is known. */
    static boolean isOfAnotherFamily(String key) {
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

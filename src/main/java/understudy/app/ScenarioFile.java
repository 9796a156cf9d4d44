package understudy.app;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Finds and merges what a scenario is made of, the strongest first: flags, environment variables, the file, {@code
 * reference.conf}. A file is HOCON, or YAML if its name says so; one that is not on disk is looked for in the jar.
 */
final class ScenarioFile {
    private static final String ENVIRONMENT_PREFIX = "UNDERSTUDY_";
    private static final List<String> SECTIONS =
            List.of("seed", "cluster", "engine", "kv-cache", "latency", "router", "workload", "clock", "report");

    private final Config reference = reference();
    private final KnownKeys knownKeys = new KnownKeys(reference);
    private final Map<String, String> environment;

    /** Takes environment variables from {@code environment}. */
    ScenarioFile(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * Returns the merged scenario, whose keys are all known.
     *
     * @param file path of the scenario
     * @param flags values given on the command line, by key
     */
    Config load(String file, Map<String, String> flags) {
        var scenario = read(file);
        knownKeys.check(scenario);
        var fromFlags = fromFlags(flags);
        knownKeys.check(fromFlags);
        try {
            return fromFlags
                    .withFallback(fromEnvironment())
                    .withFallback(scenario)
                    .withFallback(reference)
                    .resolve();
        } catch (ConfigException e) {
            throw ScenarioException.of(e);
        }
    }

    /** Returns a merged scenario as HOCON. */
    static String render(Config scenario) {
        var options = ConfigRenderOptions.defaults().setOriginComments(false).setComments(false);
        return scenario.root().render(options.setJson(false));
    }

    private static Config reference() {
        var everything = ConfigFactory.parseResources(ScenarioFile.class.getClassLoader(), "reference.conf");
        Config ours = ConfigFactory.empty();
        for (String section : SECTIONS) {
            ours = ours.withValue(section, everything.getValue(section));
        }
        return ours;
    }

    private static Config read(String file) {
        boolean isYaml = file.endsWith(".yaml") || file.endsWith(".yml");
        try {
            if (Files.isRegularFile(Path.of(file))) {
                return isYaml
                        ? readYaml(Path.of(file))
                        : ConfigFactory.parseFile(Path.of(file).toFile());
            }
            if (ScenarioFile.class.getClassLoader().getResource(file) != null) {
                return ConfigFactory.parseResources(ScenarioFile.class.getClassLoader(), file);
            }
        } catch (ConfigException e) {
            throw ScenarioException.of(e);
        } catch (JacksonException e) {
            throw new ScenarioException(file + ":" + e.getLocation().getLineNr() + ": " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new ScenarioException(file + ": cannot be read: " + e.getMessage());
        }
        throw new ScenarioException(file + ": no such file");
    }

    private static Config readYaml(Path file) throws IOException {
        var yaml = new YAMLMapper();
        var root = yaml.readTree(file.toFile());
        if (root.isMissingNode() || root.isNull()) {
            return ConfigFactory.empty();
        }
        if (!root.isObject()) {
            throw new ScenarioException(file + ": not a map of keys and values");
        }
        var map = yaml.convertValue(root, new TypeReference<Map<String, Object>>() {});
        return ConfigValueFactory.fromMap(map, file.toString()).toConfig();
    }

    private static Config fromFlags(Map<String, String> flags) {
        Config config = ConfigFactory.empty();
        for (var flag : flags.entrySet()) {
            try {
                config = config.withValue(flag.getKey(), value(flag.getValue(), "--set " + flag.getKey()));
            } catch (ConfigException e) {
                throw new ScenarioException("--set " + flag.getKey() + "=" + flag.getValue() + ": " + e.getMessage());
            }
        }
        return config;
    }

    private Config fromEnvironment() {
        Config config = ConfigFactory.empty();
        for (String key : knownKeys.leaves()) {
            String name = ENVIRONMENT_PREFIX + key.toUpperCase(Locale.ROOT).replaceAll("[.-]", "_");
            String text = environment.get(name);
            if (text != null) {
                config = config.withValue(key, value(text, "environment variable " + name));
            }
        }
        return config;
    }

    /** Takes the text as it is, so that nothing in a path or name needs quoting; readers convert it. */
    private static ConfigValue value(String text, String origin) {
        return ConfigValueFactory.fromAnyRef(text, origin);
    }
}

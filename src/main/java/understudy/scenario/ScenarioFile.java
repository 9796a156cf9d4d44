package understudy.scenario;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import understudy.engine.family.EngineSettings;
import understudy.routing.policy.RouterSettings;
import understudy.settings.Defaults;
import understudy.settings.Hocon;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/**
 * Sources of a scenario, found and merged, the strongest first: flags, environment variables, the file, the defaults of
 * {@code engine.version}, {@code understudy-defaults.conf}. A file is HOCON, or YAML if its name says so; one that is not on
 * disk is looked for in the jar.
 */
public final class ScenarioFile {
    private static final Section NOTHING = Section.of(Map.of());
    private static final String ENVIRONMENT_PREFIX = "UNDERSTUDY_";
    /** Read by the shell script that starts the program. */
    private static final Set<String> OF_THE_LAUNCHER = Set.of("UNDERSTUDY_JAVA_OPTS", "UNDERSTUDY_ARCHIVE");

    private final KnownKeys knownKeys = new KnownKeys(
            Defaults.SCENARIO, key -> RouterSettings.isOfAnotherPolicy(key) || EngineSettings.isOfAnotherFamily(key));
    private final Map<String, String> environment;

    /** Takes environment variables from {@code environment}. */
    public ScenarioFile(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * Returns the merged scenario, whose keys are all known.
     *
     * @param file path of the scenario, or null for none
     * @param flags values given on the command line, by key; one of {@code cluster.groups.NAME} is for that group
     */
    public Section load(@Nullable String file, Map<String, String> flags) {
        return load(file, flags, Map.of());
    }

    /**
     * Returns the merged scenario likewise.
     *
     * @param options the option that the user has typed in place of {@code --set KEY}, by key
     */
    public Section load(@Nullable String file, Map<String, String> flags, Map<String, String> options) {
        return Hocon.checked(file == null ? "--set" : file, () -> merged(file, flags, options));
    }

    private Section merged(@Nullable String file, Map<String, String> flags, Map<String, String> options) {
        var scenario = file == null ? NOTHING : read(file);
        var groupFlags = new GroupFlags(flags);
        var fromFlags = fromFlags(groupFlags.others(), options);
        knownKeys.check(fromFlags);
        var given = fromFlags.withFallback(fromEnvironment()).withFallback(scenario);
        var plain = given.withFallback(Defaults.SCENARIO).resolve();
        // Only now are all ${...} of the file known, and with them its keys.
        knownKeys.check(scenario.resolveWith(plain));
        var merged = groupFlags.apply(VersionDefaults.under(given, plain));
        return VersionDefaults.ofGroups(merged, given.resolveWith(plain));
    }

    /** Returns what the user gives, by key: flags, environment variables and the file, its groups among them. */
    public SortedMap<String, String> given(@Nullable String file, Map<String, String> flags) {
        return Hocon.checked(file == null ? "--set" : file, () -> {
            var merged = merged(file, flags, Map.of());
            var sources = fromFlags(new GroupFlags(flags).others(), Map.of())
                    .withFallback(fromEnvironment())
                    .withFallback(file == null ? NOTHING : read(file));
            var given = new TreeMap<>(sources.resolveWith(merged).values());
            merged.sections("cluster.groups").forEach(group -> given.putAll(group.values()));
            return given;
        });
    }

    /** Returns settings that a program gives, merged with the defaults alone; their keys are all known. */
    public Section load(Section settings) {
        knownKeys.check(settings);
        var plain = settings.withFallback(Defaults.SCENARIO).resolve();
        return VersionDefaults.ofGroups(VersionDefaults.under(settings, plain), settings.resolveWith(plain));
    }

    private static Section read(String file) {
        boolean isYaml = file.endsWith(".yaml") || file.endsWith(".yml");
        try {
            var path = Path.of(file);
            if (Files.isDirectory(path)) {
                throw new ScenarioException((file.isEmpty() ? "\"\"" : file) + ": not a file");
            }
            if (Files.exists(path)) {
                return isYaml ? readYaml(path) : Hocon.file(path);
            }
            if (file.endsWith(".conf") && ScenarioFile.class.getClassLoader().getResource(file) != null) {
                return Hocon.resource(file);
            }
        } catch (InvalidPathException e) {
            throw new ScenarioException("the scenario's name is not a path: " + e.getReason());
        } catch (JacksonException e) {
            throw YamlKeys.unusable(file, e);
        } catch (IOException e) {
            throw new ScenarioException(file + ": cannot be read: " + e.getMessage());
        }
        throw new ScenarioException(file + ": no such file");
    }

    private static Section readYaml(Path file) throws IOException {
        var yaml = YAMLMapper.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();
        var root = yaml.readTree(file.toFile());
        if (root.isMissingNode() || root.isNull()) {
            return NOTHING;
        }
        if (!root.isObject()) {
            throw new ScenarioException(file + ": not a map of keys and values");
        }
        var map = yaml.convertValue(root, new TypeReference<Map<String, Object>>() {});
        return Section.ofKeys(YamlKeys.nested(map, file.toString()), file.toString());
    }

    private static Section fromFlags(Map<String, String> flags, Map<String, String> options) {
        var settings = NOTHING;
        for (var flag : flags.entrySet()) {
            try {
                String origin = options.getOrDefault(flag.getKey(), "--set " + flag.getKey());
                settings = settings.with(flag.getKey(), unquoted(flag.getValue()), origin);
            } catch (ScenarioException e) {
                throw new ScenarioException("--set " + flag.getKey() + "=" + flag.getValue() + ": " + e.getMessage());
            }
        }
        return settings;
    }

    private Section fromEnvironment() {
        if (environment.keySet().stream().noneMatch(name -> name.startsWith(ENVIRONMENT_PREFIX))) {
            return NOTHING; // without the names of all settings, which take a while to make
        }
        var keyByName = new TreeMap<String, String>();
        knownKeys.leaves().forEach(key -> keyByName.put(variable(key), key));
        var serviceLinks = ServiceLinks.of(environment, ENVIRONMENT_PREFIX);
        var settings = NOTHING;
        for (var variable : new TreeMap<>(environment).entrySet()) {
            String name = variable.getKey();
            String key = keyByName.get(name);
            boolean isSetting = name.startsWith(ENVIRONMENT_PREFIX) && !OF_THE_LAUNCHER.contains(name);
            if (!isSetting || serviceLinks.have(name, variable.getValue())) {
                continue;
            }
            if (key != null) {
                settings = settings.with(key, variable.getValue(), "environment variable " + name);
            } else {
                throw new ScenarioException("unknown environment variable " + name + "; did you mean "
                        + KnownKeys.nearest(name, keyByName.keySet()) + "?");
            }
        }
        return settings;
    }

    /** Returns the environment variable of a setting. */
    public static String variable(String key) {
        return ENVIRONMENT_PREFIX
                + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    /** Leaves out the quotes around a text, which it does not need, but has for those who are used to HOCON. */
    private static String unquoted(String text) {
        int last = text.length() - 1;
        boolean isQuoted = last > 0 && text.startsWith("\"") && text.indexOf('"', 1) == last;
        return isQuoted ? text.substring(1, last) : text;
    }
}

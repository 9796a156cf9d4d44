package understudy.app.emit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import understudy.engine.MemorySettings;
import understudy.engine.version.EngineVersions;
import understudy.routing.Role;
import understudy.scenario.ReplicaGroup;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/**
 * Commands that start the servers of a scenario, one for each group of its replicas. A command is read back by our own
 * command line: what flags cannot say becomes an environment variable of the emulation, and the rest is refused.
 *
 * @param programs servers that there are
 */
public record ServerCommands(List<ServerProgram> programs) {
    private static final List<String> SECTIONS = List.of("engine", "kv-cache", "latency");
    private static final Section USUAL = Section.of("replicas = 1, role = both");
    private static final String VERSION = "engine.version";
    private static final String LLM = "latency.llm";
    private static final String GPU = "latency.gpu";
    private static final String PREFIX_CACHING = "kv-cache.enable-prefix-caching";
    private static final String CONNECTOR = "kv-cache.transfer.kv-connector";
    private static final Pattern PUBLISHED = Pattern.compile("config\\.json of (?<name>[\\w.-]+/[\\w.-]+).*");
    private static final List<String> QUANTIZED = List.of("int4", "nvfp4", "mxfp4");

    /**
     * Returns the commands, in the order of the groups.
     *
     * @throws ScenarioException if the scenario is wrong, its engine has no server, or a setting cannot be said
     */
    public List<ServerCommand> of(Section root) {
        var groups = Scenario.read(root).groups();
        var entries = root.section("cluster").sections("groups");
        if (entries.isEmpty()) {
            String kind = root.section("engine").text("kind");
            return List.of(command(
                    kind,
                    root,
                    root.section("cluster").wholeNumber("replicas", 1, Integer.MAX_VALUE),
                    Role.BOTH,
                    groups.get(0)));
        }
        var commands = new ArrayList<ServerCommand>();
        for (int i = 0; i < entries.size(); i++) {
            var merged = entries.get(i);
            var group = merged.withFallback(USUAL);
            for (String section : SECTIONS) {
                merged = merged.withFallback(root.only(section));
            }
            int numReplicas = group.wholeNumber("replicas", 0, Integer.MAX_VALUE);
            if (numReplicas > 0) {
                commands.add(command(
                        group.text("name"), merged, numReplicas, group.choice("role", Role.class), groups.get(i)));
            }
        }
        return commands;
    }

    private static boolean hasStates(ReplicaGroup group) {
        var model = group.deployment().model();
        return model != null && model.linearAttention() != null;
    }

    private ServerCommand command(String name, Section group, int numReplicas, Role role, ReplicaGroup checked) {
        boolean hasStates = hasStates(checked);
        var program = program(group.section("engine"));
        var wanted = values(group, program);
        // What it comes to for this model: flags have no third value.
        wanted.put(PREFIX_CACHING, String.valueOf(MemorySettings.cachesPrefixes(group.section("kv-cache"), hasStates)));
        if (role != Role.BOTH) {
            wanted.put(CONNECTOR, program.connector());
        }
        String model = model(wanted.getOrDefault(LLM, ""));
        var ofVersion = version(wanted);
        var changed = differences(wanted, values(program.read(program.naming(model), ofVersion), program));
        if (hasStates) {
            // Releases of vLLM have different defaults for such models, and an image may be of any.
            changed.put(PREFIX_CACHING, wanted.getOrDefault(PREFIX_CACHING, ""));
        }
        changed.put(VERSION, wanted.getOrDefault(VERSION, EngineVersions.RECORDED));
        var flags = program.flags(changed, role);
        var environment = program.environment(changed);
        var emulated = emulated(program, model, flags, environment, ofVersion, wanted);
        var notes = notes(program, role, emulated, wanted);
        notes.addAll(checked.engine().warnings());
        int numRanks = Integer.parseInt(wanted.getOrDefault("latency.data-parallel-size", "1"));
        int numGpus = numRanks
                * Integer.parseInt(wanted.getOrDefault("latency.tensor-parallel-size", "1"))
                * Integer.parseInt(wanted.getOrDefault("latency.pipeline-parallel-size", "1"));
        return ServerCommandBuilder.builder()
                .name(name)
                .numProcesses(Math.max(1, numReplicas / numRanks))
                .program(program)
                .model(model)
                .flags(flags)
                .environment(environment)
                .emulated(emulated)
                .numGpus(numGpus)
                .gpu(wanted.getOrDefault(GPU, ""))
                .role(role)
                .notes(notes)
                .build();
    }

    /** Returns the variable that chooses the engine's version, whose defaults no flag has to say. */
    private static Map<String, String> version(Map<String, String> wanted) {
        String version = wanted.getOrDefault(VERSION, EngineVersions.RECORDED);
        return version.equals(EngineVersions.RECORDED) ? Map.of() : Map.of(ScenarioFile.variable(VERSION), version);
    }

    private ServerProgram program(Section engine) {
        String kind = engine.text("kind");
        return programs.stream()
                .filter(program -> program.kind().equals(kind))
                .findFirst()
                .orElseThrow(() -> engine.unusable(
                        "kind",
                        "which has no server; must be one of "
                                + programs.stream().map(ServerProgram::kind).collect(Collectors.joining(", "))));
    }

    /** Returns the values that make a server, without those that only other engines read. */
    private Map<String, String> values(Section scenario, ServerProgram program) {
        var values = new TreeMap<String, String>();
        for (String section : SECTIONS) {
            scenario.section(section).values().forEach((key, value) -> values.put(section + "." + key, value));
        }
        programs.stream()
                .filter(other -> other != program)
                .forEach(other -> values.keySet().removeIf(key -> key.startsWith("engine." + other.kind() + ".")));
        return values;
    }

    private static Map<String, String> differences(Map<String, String> wanted, Map<String, String> given) {
        var changed = new LinkedHashMap<String, String>();
        wanted.forEach((key, value) -> {
            if (!value.equals(given.get(key))) {
                changed.put(key, value);
            }
        });
        return changed;
    }

    /** Returns the variables with which our own command line makes of flags what is wanted. */
    private Map<String, String> emulated(
            ServerProgram program,
            String model,
            List<String> flags,
            Map<String, String> environment,
            Map<String, String> ofVersion,
            Map<String, String> wanted) {
        var words = new ArrayList<String>(program.naming(model));
        words.addAll(flags);
        var given = new LinkedHashMap<>(environment);
        given.putAll(ofVersion);
        var variables = new LinkedHashMap<String, String>();
        variables.put(ScenarioFile.variable(GPU), wanted.getOrDefault(GPU, ""));
        variables.putAll(ofVersion);
        differences(wanted, values(program.read(words, given), program))
                .forEach((key, value) -> variables.put(ScenarioFile.variable(key), value));
        var all = new LinkedHashMap<>(environment);
        all.putAll(variables);
        var rest = differences(wanted, values(program.read(words, all), program));
        if (!rest.isEmpty()) {
            var first = rest.entrySet().iterator().next();
            throw new ScenarioException(first.getKey() + " = " + first.getValue() + ": '"
                    + String.join(" ", program.words()) + "' has no flag that says so beside the others");
        }
        return variables;
    }

    private static List<String> notes(
            ServerProgram program, Role role, Map<String, String> emulated, Map<String, String> wanted) {
        var notes = new ArrayList<String>();
        wanted.forEach((key, value) -> {
            boolean isDecision = (key.startsWith("engine.") || key.startsWith("kv-cache.")) && !key.equals(VERSION);
            if (isDecision && emulated.containsKey(ScenarioFile.variable(key))) {
                notes.add(key + " = " + value + " is no flag of '" + String.join(" ", program.words())
                        + "': what a real server has holds there");
            }
        });
        String dtype = wanted.getOrDefault("latency.dtype", "auto");
        if (QUANTIZED.contains(dtype)) {
            notes.add("latency.dtype = " + dtype + ": name a checkpoint in this format in place of the model's");
        }
        if (role == Role.DECODE) {
            notes.add(
                    "its prompts are computed by others: what is in front sends them there first, as llm-d's sidecar and"
                            + " SGLang's router with --pd-disaggregation do");
        }
        return notes;
    }

    /** Returns the name under which a model is published, or the name itself. */
    private static String model(String llm) {
        return SpecFiles.MODELS
                .find(llm)
                .map(file -> PUBLISHED.matcher(file.text("source")))
                .filter(Matcher::matches)
                .map(match -> match.group("name"))
                .orElse(llm);
    }
}

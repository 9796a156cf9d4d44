package understudy.app.flags;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import understudy.engine.ModelTooLargeException;
import understudy.engine.version.EngineVersions;
import understudy.latency.GpuSpec;
import understudy.scenario.GpuFile;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;

/**
 * Scenario that a command line makes of a file, with errors that name flags.
 *
 * @param flags of the command line
 * @param defaultFile the scenario that flags are laid over, unless the user names another
 * @param remedy what to do about a model that is too large, before a larger GPU
 * @param withoutTokenizer what else to do about a tokenizer that cannot be read
 */
public record FlagScenario(FlagTable flags, String defaultFile, String remedy, String withoutTokenizer) {
    private static final String GPU = "latency.gpu";
    private static final String GPU_VARIABLE = "UNDERSTUDY_LATENCY_GPU";
    private static final String MAX_MODEL_LEN = "engine.max-model-len";
    private static final String SET = "--set ";
    private static final String TOKENIZER_FAILURE = SET + "server.tokenizer";

    /** Of the models that command lines name, few are made for less. */
    private static final int USUAL_MODEL_LEN = 131_072;

    /**
     * A scenario, and warnings for its user.
     *
     * @param warnings assumptions, a line each
     */
    public record Served(Scenario scenario, List<String> warnings) {}

    /**
     * Reads the scenario that settings make of a file. If the model is too large for the GPUs, and the user chose none, they
     * are those of the smallest type that holds it: the command line does not say on which it runs.
     *
     * @param given names of the flags that are given
     * @param isGuessed whether the model is not known, and has the timing of one of its size
     * @param stronger settings that go over them
     * @throws ScenarioException if a value cannot be used, which the flag is named for, or the engine's version does not have
     *     a flag
     */
    public Served start(
            Map<String, String> settings,
            Set<String> given,
            boolean isGuessed,
            String file,
            Map<String, String> environment,
            Map<String, String> stronger) {
        var all = new LinkedHashMap<>(settings);
        all.putAll(stronger);
        var reader = new ScenarioFile(environment);
        try {
            return new Served(namingFlags(() -> read(reader, file, all, given, isGuessed)), List.of());
        } catch (ModelTooLargeException e) {
            boolean isChosen =
                    stronger.containsKey(GPU) || environment.containsKey(GPU_VARIABLE) || !file.equals(defaultFile);
            return (isChosen ? Optional.<Served>empty() : onLargerGpu(reader, file, all, given, isGuessed, e))
                    .orElseThrow(() -> new ScenarioException(
                            e.problem() + "; " + remedy + ", or choose a larger GPU by " + GPU_VARIABLE));
        }
    }

    /** The model that lends its timing may be made for shorter sequences than the one that is served. */
    private static Scenario read(
            ScenarioFile reader, String file, Map<String, String> settings, Set<String> given, boolean isGuessed) {
        var config = reader.load(file, settings);
        var refusal = EngineVersions.profile(config.section("engine")).flatMap(profile -> profile.refusal(given));
        if (refusal.isPresent()) {
            throw new ScenarioException(refusal.get());
        }
        var scenario = Scenario.read(config);
        boolean isGiven = !config.text(MAX_MODEL_LEN).equals("auto");
        long longest = Math.min(USUAL_MODEL_LEN, scenario.engine().kvCache().maxTokens());
        if (!isGuessed || isGiven || longest <= scenario.maxModelLen()) {
            return scenario;
        }
        var others = new LinkedHashMap<>(settings);
        others.put(MAX_MODEL_LEN, String.valueOf(longest));
        return Scenario.read(reader.load(file, others));
    }

    private static Optional<Served> onLargerGpu(
            ScenarioFile reader,
            String file,
            Map<String, String> settings,
            Set<String> given,
            boolean isGuessed,
            ModelTooLargeException failure) {
        var usual = SpecFiles.GPUS
                .find(reader.load(file, settings).text(GPU))
                .map(GpuFile::read)
                .map(GpuFile::spec);
        var larger = SpecFiles.GPUS.all().stream()
                .map(GpuFile::read)
                .map(GpuFile::spec)
                .filter(gpu ->
                        usual.filter(other -> isLargerAndNoSlower(gpu, other)).isPresent())
                .sorted(Comparator.comparingDouble(GpuSpec::memoryGib))
                .map(GpuSpec::name)
                .toList();
        for (String gpu : larger) {
            var others = new LinkedHashMap<>(settings);
            others.put(GPU, gpu);
            try {
                var scenario = read(reader, file, others, given, isGuessed);
                String warning = failure.problem() + "; emulating " + gpu
                        + ", the smallest type that holds it and is no slower; " + GPU_VARIABLE + " chooses";
                return Optional.of(new Served(scenario, List.of(warning)));
            } catch (ModelTooLargeException tooSmall) {
                // The next one is larger.
            }
        }
        return Optional.empty();
    }

    private static boolean isLargerAndNoSlower(GpuSpec gpu, GpuSpec other) {
        return gpu.memoryGib() > other.memoryGib()
                && gpu.bandwidthGbPerSecond() >= other.bandwidthGbPerSecond()
                && gpu.bf16Tflops() >= other.bf16Tflops();
    }

    /** Reads something from such a scenario, and has a failure name the flag in place of the setting. */
    public <T> T namingFlags(Supplier<T> reader) {
        try {
            return reader.get();
        } catch (ModelTooLargeException e) {
            throw e;
        } catch (ScenarioException e) {
            throw named(e);
        }
    }

    private ScenarioException named(ScenarioException failure) {
        String message = String.valueOf(failure.getMessage());
        if (message.startsWith(TOKENIZER_FAILURE)) {
            String why = message.substring(TOKENIZER_FAILURE.length());
            return new ScenarioException("--tokenizer" + why + withoutTokenizer);
        }
        for (var flag : flags.flags()) {
            String setting = flag.setting().orElse("");
            if (!setting.isEmpty() && message.startsWith(SET + setting + ":")) {
                String problem = message.substring(SET.length() + setting.length());
                return new ScenarioException("--" + flag.name() + namingNeeded(problem));
            }
            if (message.startsWith(SET + flag.description() + ".")) {
                return new ScenarioException("--" + flag.name() + message.substring(message.indexOf(':')));
            }
        }
        return failure;
    }

    /** Names the flag of a setting that another one needs. */
    private String namingNeeded(String problem) {
        for (var flag : flags.flags()) {
            String needed =
                    flag.setting().map(setting -> "needs " + setting + ",").orElse("");
            if (!needed.isEmpty() && problem.contains(needed)) {
                return problem.replace(needed, "needs --" + flag.name() + ",");
            }
        }
        return problem;
    }
}

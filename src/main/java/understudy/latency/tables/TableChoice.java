package understudy.latency.tables;

import static understudy.latency.StepExecution.VLLM;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.latency.StepExecution;

/**
 * Choice of a file for each table of a GPU: of the engine's versions that have what is asked for, are not known to be measured
 * wrongly, and do not show it, the nearest to one that a setting gives, or else the newest; or the one that a setting names.
 * Keeps what was chosen, and what is wrong with it.
 */
final class TableChoice {
    private static final String AUTO = "auto";

    /** Setting for the version of the engine that is emulated. */
    private static final String ENGINE = "engine";

    private static final String PREFIX = "latency.profiled: ";

    private final KernelDatabase database;
    private final String gpu;
    private final Map<String, String> versions;
    private final StepExecution execution;
    private final List<String> sources = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();

    /**
     * Describes a GPU's tables.
     *
     * @param versions the version to use, or auto, by the name of a setting; and by {@code engine} that of the engine, which
     *     auto comes near to, or an empty text
     * @param execution whose kernels to prefer; those of vLLM stand in for what has not been measured
     */
    TableChoice(KernelDatabase database, String gpu, Map<String, String> versions, StepExecution execution) {
        this.database = database;
        this.gpu = gpu;
        this.versions = versions;
        this.execution = execution;
    }

    /**
     * Something that a table has.
     *
     * @param setting which names its version
     * @param family folder of the table
     * @param table its name
     * @param what for messages
     * @param dtype format of its numbers
     */
    record Part(String setting, String family, String table, String what, String dtype) {}

    /** Returns what {@code read} makes of the best file, or null, after a warning, if no version has it. */
    <T> @Nullable T choose(Part part, Function<TableFile, @Nullable T> read) {
        var found = find(part, read);
        if (found == null) {
            addMissing(part.setting, part.what);
        }
        return found;
    }

    /** Returns the same, or null if no version has it, without a word. */
    <T> @Nullable T find(Part part, Function<TableFile, @Nullable T> read) {
        for (var file : candidates(part)) {
            var found = read(part, file, read);
            if (found != null) {
                String path = String.valueOf(database.relative(file.path()));
                note(part.what + ": " + name(file) + ", " + path);
                KnownDefects.of(part.table, part.dtype, file)
                        .ifPresent(defect -> warn(part.what + ", " + path + ": " + defect));
                return found;
            }
        }
        return null;
    }

    /** Records that no table has the times of a kernel, and warns of it. */
    void addMissing(String setting, String what) {
        missing.add(setting);
        warn("no times of " + what + "; they come from the roofline");
    }

    /** Returns the version of vLLM that is emulated, an empty text for the newest, or null for another engine. */
    @Nullable String vllmVersion() {
        return execution.kernels().equals(VLLM.kernels()) ? versions.getOrDefault(ENGINE, "") : null;
    }

    /** Returns the settings that name the versions of what no table has. */
    List<String> missing() {
        return missing.stream().distinct().toList();
    }

    void note(String source) {
        sources.add(PREFIX + source);
    }

    void warn(String warning) {
        warnings.add(PREFIX + warning);
    }

    List<String> sources() {
        return List.copyOf(sources);
    }

    List<String> warnings() {
        return warnings.stream().distinct().toList();
    }

    private List<TableFile> candidates(Part part) {
        var files = Stream.of(execution.kernels(), VLLM.kernels())
                .distinct()
                .flatMap(engine -> files(engine, part))
                .toList();
        String wanted = versions.getOrDefault(part.setting, AUTO);
        boolean isAuto = wanted.equals(AUTO);
        if (!isAuto && files.stream().noneMatch(file -> file.version().equals(wanted))) {
            throw new KernelDatabaseException("version " + wanted + " of " + part.setting + " is none of "
                    + files.stream().map(TableFile::version).toList() + " of " + gpu);
        }
        return files.stream()
                .filter(file -> isAuto || file.version().equals(wanted))
                .sorted(Comparator.comparing((TableFile file) ->
                                KnownDefects.of(part.table, part.dtype, file).isPresent())
                        .thenComparing(this::isStandIn)
                        .thenComparingDouble(this::distance))
                .toList();
    }

    private boolean isStandIn(TableFile file) {
        return !file.engine().equals(execution.kernels());
    }

    /** Versions of another engine's kernels are not near to any of this one. */
    private double distance(TableFile file) {
        String engine = versions.getOrDefault(ENGINE, "");
        return engine.isEmpty() || isStandIn(file) ? 0 : KernelDatabase.distance(engine, file.version());
    }

    private Stream<TableFile> files(String engine, Part part) {
        return database.files(gpu, engine, part.family, part.table).entrySet().stream()
                .map(entry -> new TableFile(engine, entry.getKey(), entry.getValue()));
    }

    private String name(TableFile file) {
        boolean isOwn = file.engine().equals(execution.kernels());
        return (isOwn ? execution.engine() : VLLM.engine()) + " " + file.version();
    }

    private <T> @Nullable T read(Part part, TableFile file, Function<TableFile, @Nullable T> read) {
        try {
            return read.apply(file);
        } catch (RejectedTableException e) {
            warn(part.table + " of " + name(file) + " is not used: " + e.getMessage());
            return null;
        }
    }
}

package understudy.latency.tables;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Choice of a version for each table of a GPU: the newest that has what is asked for, is not known to be measured
 * wrongly, and does not show it; or the one that a setting names. Keeps what was chosen, and what is wrong with it.
 */
final class TableChoice {
    private static final String AUTO = "auto";
    private static final String PREFIX = "latency.profiled: ";

    private final KernelDatabase database;
    private final String gpu;
    private final Map<String, String> versions;
    private final List<String> sources = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();

    /**
     * Describes a GPU's tables.
     *
     * @param versions the version to use, or auto, by the name of a setting
     */
    TableChoice(KernelDatabase database, String gpu, Map<String, String> versions) {
        this.database = database;
        this.gpu = gpu;
        this.versions = versions;
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
    <T> @Nullable T choose(Part part, Function<Path, @Nullable T> read) {
        var files = database.files(gpu, part.family, part.table);
        for (var candidate : candidates(part, files)) {
            var file = candidate.getValue();
            var found = read(part, candidate, read);
            if (found != null) {
                note(part.what + ": vLLM " + candidate.getKey() + ", " + database.relative(file));
                KnownDefects.of(part.table, part.dtype, file)
                        .ifPresent(defect -> warn(part.what + ", " + database.relative(file) + ": " + defect));
                return found;
            }
        }
        addMissing(part.setting, part.what);
        return null;
    }

    /** Takes note of what no table has. */
    void addMissing(String setting, String what) {
        missing.add(setting);
        warn("no times of " + what + "; they come from the roofline");
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

    private List<Map.Entry<String, Path>> candidates(Part part, Map<String, Path> files) {
        String wanted = versions.getOrDefault(part.setting, AUTO);
        boolean isAuto = wanted.equals(AUTO);
        if (!isAuto && !files.containsKey(wanted)) {
            throw new KernelDatabaseException(
                    "version " + wanted + " of " + part.setting + " is none of " + files.keySet() + " of " + gpu);
        }
        return files.entrySet().stream()
                .filter(entry -> isAuto || entry.getKey().equals(wanted))
                .sorted(Comparator.comparing(entry -> KnownDefects.of(part.table, part.dtype, entry.getValue())
                        .isPresent()))
                .toList();
    }

    private <T> @Nullable T read(Part part, Map.Entry<String, Path> candidate, Function<Path, @Nullable T> read) {
        try {
            return read.apply(candidate.getValue());
        } catch (RejectedTableException e) {
            warn(part.table + " of vLLM " + candidate.getKey() + " is not used: " + e.getMessage());
            return null;
        }
    }
}

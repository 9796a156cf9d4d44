package understudy.latency.tables;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A directory of NVIDIA AIConfigurator's measured kernels: {@code GPU.yaml}, and {@code
 * data/GPU/FAMILY/ENGINE/VERSION/TABLE_perf.parquet}. Files are read when they are asked for.
 */
public final class KernelDatabase {
    private static final double MICROS = 1e6;
    private static final String YAML = ".yaml";
    private static final String PARQUET = ".parquet";
    private static final String REUSE = "reuse.yaml";
    private static final int MAX_REUSES = 8;
    private static final double MAJOR = 1e6;
    private static final double MINORS = 1e3;

    /** Less than any difference of two versions of up to four numbers. */
    private static final double NEWER = 1e-4;

    private static final YAMLMapper MAPPER = new YAMLMapper();
    private static final Comparator<String> BY_NUMBERS =
            Comparator.comparing(KernelDatabase::numbers, (a, b) -> Arrays.compare(a, b));

    private final Path root;

    /** Describes a directory that need not be one; see {@link #gpus}. */
    public KernelDatabase(Path root) {
        this.root = root;
    }

    /** Returns the names of GPUs, in alphabetical order. */
    public List<String> gpus() {
        return names(root, path -> Files.isDirectory(data(stem(path)))).stream()
                .filter(name -> name.endsWith(YAML))
                .map(name -> name.substring(0, name.length() - YAML.length()))
                .toList();
    }

    /** Returns the versions of each table of a GPU with an engine's kernels, newest first, by family and table. */
    public Map<String, List<String>> versions(String gpu, String engine) {
        var versions = new TreeMap<String, List<String>>();
        for (String family : names(data(gpu), Files::isDirectory)) {
            var folder = data(gpu).resolve(family).resolve(engine);
            for (String version : names(folder, Files::isDirectory)) {
                names(folder.resolve(version), file -> file.toString().endsWith(PARQUET)).stream()
                        .map(name -> family + "/" + name.replace("_perf" + PARQUET, ""))
                        .forEach(table -> versions.putIfAbsent(table, tables(gpu, engine, table)));
            }
        }
        return versions;
    }

    private List<String> tables(String gpu, String engine, String table) {
        var parts = table.split("/", 2);
        return List.copyOf(files(gpu, engine, parts[0], parts[1]).keySet());
    }

    /** Returns the files of a table with an engine's kernels by version, newest first. */
    Map<String, Path> files(String gpu, String engine, String family, String table) {
        var folder = data(gpu).resolve(family).resolve(engine);
        var files = new TreeMap<String, Path>(BY_NUMBERS.reversed());
        for (String version : names(folder, Files::isDirectory)) {
            var file = file(folder, version, table);
            if (file != null) {
                files.put(version, file);
            }
        }
        return files;
    }

    /** Returns the path of a file within the directory. */
    Path relative(Path file) {
        return root.relativize(file);
    }

    /** Returns the figures of a GPU. */
    GpuData gpu(String name) {
        if (!gpus().contains(name)) {
            throw new KernelDatabaseException(
                    root + ": has no tables of " + (name.isEmpty() ? "this GPU" : name) + ", but of " + gpus());
        }
        var file = root.resolve(name + YAML);
        var gpu = yaml(file).path("gpu");
        double bandwidth = positive(file, gpu, "mem_bw") * positive(file, gpu, "mem_bw_empirical_scaling_factor");
        return new GpuData(
                bandwidth / MICROS,
                positive(file, gpu, "bfloat16_tc_flops") / MICROS,
                gpu.path("fp8_tc_flops").asDouble() / MICROS,
                gpu.path("fp4_tc_flops").asDouble() / MICROS,
                gpu.path("sm_version").asInt());
    }

    /** A version may take a table of another one over, which {@code reuse.yaml} says. */
    private static @Nullable Path file(Path folder, String first, String table) {
        String version = first;
        for (int i = 0; i < MAX_REUSES; i++) {
            var file = folder.resolve(version).resolve(table + "_perf" + PARQUET);
            if (Files.isRegularFile(file)) {
                return file;
            }
            var reuse = folder.resolve(version).resolve(REUSE);
            String other = Files.isRegularFile(reuse) ? reused(yaml(reuse), table) : null;
            if (other == null) {
                return null;
            }
            version = other;
        }
        return null;
    }

    private static @Nullable String reused(JsonNode reuse, String table) {
        return reuse.findParents("from_version").stream()
                .filter(entry ->
                        entry.path("table").asText().replace("_perf", "").equals(table))
                .map(entry -> entry.path("from_version").asText())
                .findFirst()
                .orElse(null);
    }

    private static JsonNode yaml(Path file) {
        try {
            return MAPPER.readTree(file.toFile());
        } catch (IOException e) {
            throw new KernelDatabaseException(file + ": cannot be read: " + e.getMessage());
        }
    }

    private static double positive(Path file, JsonNode gpu, String key) {
        double value = gpu.path(key).asDouble();
        if (value > 0) {
            return value;
        }
        throw new KernelDatabaseException(file + ": gpu." + key + " is not above 0");
    }

    private Path data(String gpu) {
        return root.resolve("data").resolve(gpu);
    }

    private static String stem(Path file) {
        return String.valueOf(file.getFileName()).replace(YAML, "");
    }

    private static List<String> names(Path folder, Predicate<Path> isWanted) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (var files = Files.list(folder)) {
            return files.filter(isWanted)
                    .map(file -> String.valueOf(file.getFileName()))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new KernelDatabaseException(folder + ": cannot be listed: " + e.getMessage());
        }
    }

    /**
     * Returns how far two versions are apart: minor versions count a thousand times as much as patches, and one that is
     * newer than the first is farther than one that is as much older.
     */
    static double distance(String version, String other) {
        double difference = place(numbers(other)) - place(numbers(version));
        return difference > 0 ? difference + NEWER : -difference;
    }

    /** Returns whether a version is older than another; an empty text stands for a new one. */
    static boolean isBefore(String version, String other) {
        return !version.isEmpty() && BY_NUMBERS.compare(version, other) < 0;
    }

    private static double place(int[] numbers) {
        double place = 0;
        double weight = MAJOR;
        for (int number : numbers) {
            place += weight * number;
            weight /= MINORS;
        }
        return place;
    }

    private static int[] numbers(String version) {
        return Arrays.stream(version.split("\\D+"))
                .filter(part -> !part.isEmpty() && part.length() < 10)
                .mapToInt(Integer::parseInt)
                .toArray();
    }
}
